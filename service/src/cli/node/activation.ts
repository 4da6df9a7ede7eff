// Opens activation for a node: the link directory, the click recorder, its spool and the disk reserves.

import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BadInput } from '@offerbook/wire/failures.ts';
import { Activation } from '../../activation/activation.ts';
import { ActivationDirectory } from '../../activation/activation-directory.ts';
import { clickProblem } from '../../activation/click-problem.ts';
import { ClickRecorder } from '../../activation/click-recorder.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ServeSettings } from '../../config.ts';
import type { Stores } from '../../domain/stores.ts';
import { openSpool } from '../../storage/click-spool.ts';
import { sqlitePath } from '../../storage/open-database.ts';
import { diskReserve, spoolFolder } from './disk-reserve.ts';
import type { NodeOptions } from './node-settings.ts';

export function openActivation(options: NodeOptions, stores: Stores, catalogue: Catalogue) {
  const { settings, databaseUrl, clock, logger } = options;
  const directory = new ActivationDirectory(stores);
  const path = () => spoolPath(settings.spool, databaseUrl, directory.name);
  const spoolDisk = diskReserve(spoolFolder(settings.spool, databaseUrl), settings.diskReserve);
  const spool = spoolDisk.guard(openSpool(path));
  const databasePath = sqlitePath(databaseUrl);
  // A PostgreSQL server's disk cannot be measured from here.
  const databaseDisk =
    databasePath === undefined ? undefined : diskReserve(dirname(databasePath), settings.diskReserve);
  const recorder = new ClickRecorder({
    store: databaseDisk?.guard(stores.clicks) ?? stores.clicks,
    spool,
    problemOf: (click) => clickProblem(click, directory.clickIds),
    hasSpool: () => existsSync(path()),
    organisations: stores.organisations,
    logger,
    deadlineMs: options.clickDeadlineMs,
  });
  const activation = new Activation({ directory, recorder, catalogue, clock, logger });
  return {
    activation,
    directory,
    recorder,
    /** `isDiskLow` is true while a disk that stores clicks has less free space than the reserve. */
    state() {
      const isDiskLow = spoolDisk.isLow() || databaseDisk?.isLow() === true;
      return { tally: activation.tally, ...recorder.state, isDiskLow };
    },
    /** Loads the directory and starts draining the spool, which may contain clicks from an earlier process. */
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

/** Throws BadInput if --spool is not a usable folder. Called at startup, before a click needs the spool. */
export function requireSpool({ activation, spool }: ServeSettings): void {
  const problem = activation === 'off' || spool === undefined ? undefined : spoolProblem(spool);
  if (problem !== undefined) throw new BadInput(`--spool ${problem}`);
}

/** Returns why this folder cannot contain the spool; undefined if it can. */
export function spoolProblem(folder: string): string | undefined {
  try {
    // The trailing slash makes access() fail if the path is a file.
    accessSync(`${folder}/`, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    return `${folder} is not a writable folder (${code})`;
  }
}

/** The file name contains the database name, because servers with different databases may share a folder. */
export function spoolPath(folder: string | undefined, databaseUrl: string, databaseName: string): string {
  return join(spoolFolder(folder, databaseUrl), `offerbook-spool-${databaseName}.db`);
}
