// What the thread with the admin port and the thread of the console tell each other. It is sent from one thread to
// another, so it is data without behaviour.

import type { NodeView } from '../../../console/node-view.ts';
import type { ThreadFailure } from '../thread-failure.ts';

/** In the place of a question: the thread closes its database, and ends. */
export const CLOSE = 'close';

export interface ConsoleQuestion {
  readonly number: number;
  readonly setup: ConsoleSetup;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a form; empty for GET. */
  readonly body: string;
  readonly node: NodeView;
}

export interface ConsoleSetup {
  readonly databaseUrl: string;
  /** Whose disk is watched: the folder of the SQLite database, and of the spool. */
  readonly folder: string;
}

export type ConsoleAnswer =
  | {
      readonly number: number;
      readonly status: number;
      readonly headers: Record<string, string>;
      readonly body: Uint8Array<ArrayBuffer>;
    }
  | { readonly number: number; readonly failure: ThreadFailure };
