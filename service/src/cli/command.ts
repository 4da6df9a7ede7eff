// The parts that commands share: the --database and --json options, an example under --help, and a database that is
// closed when the command ends or fails.

import { Command } from 'commander';
import { readDatabaseUrl } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import type { Stores } from '../domain/stores.ts';
import { closing } from '../storage/open-once.ts';
import { COMMAND_OPTIONS, openStores, READ_OPTIONS } from '../storage/open-stores.ts';
import { currentUser } from './current-user.ts';

export interface StoreOptions {
  readonly database?: string;
  readonly json?: boolean;
}

export function command(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option(
      '--database <url>',
      'sqlite:PATH or postgres://… (default: $OFFERBOOK_DATABASE_URL or sqlite:./offerbook.db)',
    )
    .addHelpText('after', `\nExample:\n  ${example}`);
}

export function jsonCommand(name: string, description: string, example: string): Command {
  return command(name, description, example).option('--json', 'print one JSON document');
}

export async function withStores<T>(
  options: StoreOptions,
  work: (stores: Stores) => Promise<T>,
  databaseOptions = COMMAND_OPTIONS,
): Promise<T> {
  const url = readDatabaseUrl(options.database);
  await using stores = closing(await openStores(url, databaseOptions, systemClock, { by: currentUser() }));
  return await work(stores);
}

/** For commands that only read: neither the database nor its files change. */
export function readStores<T>(options: StoreOptions, work: (stores: Stores) => Promise<T>): Promise<T> {
  return withStores(options, work, READ_OPTIONS);
}
