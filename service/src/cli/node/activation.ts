// Puts activation together for a node: the directory, the recorder with its spool, and what the metrics tell of them.

import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Activation } from '../../activation/activation.ts';
import { ActivationDirectory } from '../../activation/activation-directory.ts';
import { clickProblem } from '../../activation/click-problem.ts';
import { ClickRecorder } from '../../activation/click-recorder.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../config.ts';
import type { Clock } from '../../domain/clock.ts';
import { BadInput } from '../../domain/failures.ts';
import type { Logger } from '../../domain/logger.ts';
import type { Stores } from '../../domain/stores.ts';
import { openSpool } from '../../storage/click-spool.ts';
import { sqlitePath } from '../../storage/open-database.ts';

export type NodeActivation = ReturnType<typeof openActivation>;

interface NodeParts {
  readonly settings: ServeSettings;
  readonly databaseUrl: string;
  readonly stores: Stores;
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly clickDeadlineMs?: number;
}

export function openActivation(parts: NodeParts) {
  const { settings, databaseUrl, stores, catalogue, clock, logger } = parts;
  const directory = new ActivationDirectory(stores);
  const path = () => spoolPath(settings.spool, databaseUrl, directory.name);
  const spool = openSpool(path);
  const recorder = new ClickRecorder({
    store: stores.clicks,
    spool,
    problemOf: (click) => clickProblem(click, directory.clickIds),
    hasSpool: () => existsSync(path()),
    organisations: stores.organisations,
    logger,
    deadlineMs: parts.clickDeadlineMs,
  });
  return {
    activation: new Activation({ directory, recorder, catalogue, clock, logger }),
    directory,
    recorder,
    /** Reads what is kept in memory, and takes up what an earlier process has left in the spool. */
    async start() {
      await directory.refresh();
      recorder.start();
    },
    async stop() {
      await recorder.stop();
      await spool.close();
    },
  };
}

/** Throws BadInput for a folder that was named and cannot be used: it would be found out by the first click that needs it. */
export function requireSpool({ activation, spool }: ServeSettings): void {
  const problem = activation === 'off' || spool === undefined ? undefined : spoolProblem(spool);
  if (problem !== undefined) throw new BadInput(`--spool ${problem}`);
}

/** Why no spool can be made in this folder; undefined when one can. */
export function spoolProblem(folder: string): string | undefined {
  try {
    // The slash: of a file, too, one could ask whether it can be written.
    accessSync(`${folder}/`, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = 'unknown error' } = error as { code?: string };
    return `${folder} is no folder that can be written (${code})`;
  }
}

/** By database: several may have their servers in one folder. */
export function spoolPath(folder: string | undefined, databaseUrl: string, databaseName: string): string {
  return join(folder ?? dirname(sqlitePath(databaseUrl) ?? '.'), `offerbook-spool-${databaseName}.db`);
}
