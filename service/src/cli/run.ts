// The command line: which commands there are, and how each way to fail becomes an exit code.
//   0 done   1 unexpected failure   2 bad usage or bad input   3 refused by a guard

import { OfferbookError } from '@offerbook/client';
import { Command, CommanderError } from 'commander';
import { BadInput, DatabaseUnavailable, Refused } from '../domain/errors.ts';
import { InvalidRows } from '../importer/invalid-rows.ts';
import { exportCommand } from './export.ts';
import { followCommand } from './follow.ts';
import { importCommand } from './import.ts';
import { openApiCommand } from './openapi.ts';
import { organisationsCommand } from './organisations.ts';
import { printNote } from './output.ts';
import { sandboxCommand } from './sandbox.ts';
import { serveCommand } from './serve.ts';
import { tokensCommand } from './tokens.ts';

export async function run(args: readonly string[]): Promise<number> {
  const program = new Command('offerbook').description('Retailers, offers and transactions over HTTP.');
  for (const command of [
    serveCommand(),
    sandboxCommand(),
    importCommand(),
    exportCommand(),
    organisationsCommand(),
    tokensCommand(),
    openApiCommand(),
    followCommand(),
  ]) {
    program.addCommand(command);
  }
  throwInsteadOfExit(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return explain(error);
  }
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride().showHelpAfterError('(add --help for what this takes)');
  for (const sub of command.commands) throwInsteadOfExit(sub);
}

function explain(error: unknown): number {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof BadInput || error instanceof Refused) {
    // A list of bad rows speaks for itself, line by line.
    printNote(error instanceof InvalidRows ? error.message : `offerbook: ${error.message}`);
    return error instanceof Refused ? 3 : 2;
  }
  if (error instanceof DatabaseUnavailable || error instanceof OfferbookError) {
    printNote(`offerbook: ${error.message}`);
    return 1;
  }
  // Whoever reads our output has had enough, as `offerbook export catalogue | head` does.
  if ((error as { code?: unknown } | null)?.code === 'EPIPE') return 0;
  printNote(
    `offerbook: unexpected failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return 1;
}
