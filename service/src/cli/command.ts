// Code shared by the commands: common options, an example under --help, and opening the database.

import { Command, Option } from 'commander';
import { systemClock } from '../domain/clock.ts';
import type { Stores } from '../domain/stores.ts';
import { closing } from '../storage/open-once.ts';
import { COMMAND_OPTIONS, openStores, READ_OPTIONS } from '../storage/open-stores.ts';
import { currentUser } from './current-user.ts';

export interface StoreOptions {
  readonly database: string;
  readonly json?: boolean;
}

/** A command without a database. */
export function plainCommand(name: string, description: string, example: string): Command {
  return new Command(name).description(description).addHelpText('after', `\nExample:\n  ${example}`);
}

export function command(name: string, description: string, example: string): Command {
  return plainCommand(name, description, example).addOption(databaseOption('sqlite:./offerbook.db'));
}

export function jsonCommand(name: string, description: string, example: string): Command {
  return command(name, description, example).option('--json', 'print one JSON document');
}

export function group(name: string, description: string, commands: readonly Command[]): Command {
  const parent = new Command(name).description(description);
  for (const each of commands) parent.addCommand(each);
  return parent;
}

export function databaseOption(fallback: string): Option {
  const option = environmentOption(
    '--database <url>',
    'sqlite:PATH or postgres://…',
    'OFFERBOOK_DATABASE_URL',
  );
  return option.default(fallback, fallback);
}

/** An option that can also be set in the environment, because its value may contain a password or is a setting of the servers. */
export function environmentOption(flags: string, description: string, variable: string): Option {
  return new Option(flags, description).env(variable);
}

/** For commands that read a server's spool. */
export function spoolOption(): Option {
  return environmentOption('--spool <folder>', "the servers' --spool, if set", 'OFFERBOOK_SPOOL');
}

/** Clock and user for the audit log. */
export function auditor() {
  return { clock: systemClock, by: currentUser() };
}

/** For `await using`. */
export async function openForWriting(
  { database }: Pick<StoreOptions, 'database'>,
  databaseOptions = COMMAND_OPTIONS,
): Promise<Stores & AsyncDisposable> {
  return closing(await openStores(database, databaseOptions, systemClock, { by: currentUser() }));
}

/** For commands that only read: neither the database nor its files change. */
export function openForReading(options: Pick<StoreOptions, 'database'>): Promise<Stores & AsyncDisposable> {
  return openForWriting(options, READ_OPTIONS);
}
