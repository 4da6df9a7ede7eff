// What the health checks judge. A server and `doctor` collect different facts; a check without its facts is omitted.

import type { ClickFate } from '../domain/click.ts';
import type { ContentFacts, DatabaseFacts } from '../storage/inspect-database.ts';
import type { FailoverFacts } from '../storage/postgres/failovers.ts';
import type { Verdict } from './check.ts';

export interface Facts {
  readonly nowMs: number;
  /** The value of --import-max-age. */
  readonly importAgeMaxMs: number;
  readonly database: DatabaseStatus;
  /** Undefined on SQLite. */
  readonly failovers?: FailoverFacts | undefined;
  readonly contents?: ContentFacts | undefined;
  /** Undefined if activation is off. */
  readonly clicks?: ClickFacts | undefined;
  /** Undefined if there is no replica. */
  readonly replica?: { readonly isUsable: boolean; readonly found: string } | undefined;
  readonly disks?: readonly DiskFacts[] | undefined;
  /** Only of a server. */
  readonly node?: { readonly isReady: boolean; readonly workers: number; readonly workersReady: number };
  /** Only of doctor. */
  readonly inspected?: DatabaseFacts | undefined;
}

/** `corrupt` lasts until the server is restarted. */
export interface DatabaseStatus {
  readonly state: 'usable' | 'unreachable' | 'corrupt';
  /** Why the database is not usable. */
  readonly reason?: string | undefined;
  /** Addresses of PostgreSQL servers that accept writes although another has replaced them. */
  readonly rivals?: readonly string[] | undefined;
}

export interface ClickFacts {
  readonly fate: ClickFate;
  /** Why the spool cannot be used. */
  readonly problem?: Verdict | undefined;
  /** Clicks in the spool; undefined if they were not counted. */
  readonly waiting?: number | undefined;
}

export interface DiskFacts {
  readonly folder: string;
  /** Undefined if the folder cannot be read. */
  readonly freeBytes: number | undefined;
  /** Space that a backup or an upgrade needs. */
  readonly neededBytes: number;
  /** The value of --disk-reserve; 0 if clicks are not stored on this disk. */
  readonly reserveMegabytes: number;
}
