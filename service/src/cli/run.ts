// The command line: which commands there are, and how each way to fail becomes an exit code.
//   0 done   1 unexpected failure   2 bad usage or bad input   3 refused by a guard

import { BadInput, FaultFound, Refused, ServiceFailure } from '@offerbook/wire/failures.ts';
import { Command, CommanderError } from 'commander';
import { isStorageError } from '../domain/storage-error.ts';
import { OutputFailure, print, printNote } from './output.ts';
import { storageExitCode, storageWords } from './storage-failure.ts';
import { VERSION_WORDS } from './version.ts';

/** Loaded one by one: without the others, the one that is asked for starts 20 ms sooner. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  sandbox: async () => (await import('./commands/sandbox/sandbox.ts')).sandboxCommand(),
  import: async () => (await import('./commands/import.ts')).importCommand(),
  convert: async () => (await import('./commands/convert.ts')).convertCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  copy: async () => (await import('./commands/copy.ts')).copyCommand(),
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  imports: async () => (await import('./commands/imports.ts')).importsCommand(),
  transactions: async () => (await import('./commands/transactions.ts')).transactionsCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  activations: async () => (await import('./commands/activations.ts')).activationsCommand(),
  purge: async () => (await import('./commands/purge.ts')).purgeCommand(),
  erase: async () => (await import('./commands/erase.ts')).eraseCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  orgs: async () => (await import('./commands/organisations.ts')).organisationsCommand(),
  tokens: async () => (await import('./commands/tokens.ts')).tokensCommand(),
  openapi: async () => (await import('./commands/openapi.ts')).openApiCommand(),
  follow: async () => (await import('./commands/follow.ts')).followCommand(),
  probe: async () => (await import('./commands/probe.ts')).probeCommand(),
  completion: async () => (await import('./commands/shell/completion.ts')).completionCommand(loadProgram),
  manual: async () => (await import('./commands/shell/manual.ts')).manualCommand(loadProgram),
};

const VERSION_FLAGS = ['-V', '--version'];

export async function run(args: readonly string[]): Promise<number> {
  const named = Object.hasOwn(COMMANDS, args[0] ?? '') ? COMMANDS[args[0] ?? ''] : undefined;
  // Help, and whatever is none of them, is about all of them; the version is about none.
  const others = VERSION_FLAGS.includes(args[0] ?? '') ? [] : Object.values(COMMANDS);
  const program = await loadProgram(named === undefined ? others : [named]);
  let help = '';
  prepare(program, (text) => {
    help += text;
  });
  try {
    await program.parseAsync(args, { from: 'user' }).catch(async (error: unknown) => {
      await print(help);
      throw error;
    });
    return 0;
  } catch (error) {
    return explain(ownFailure(error));
  }
}

/** The program with these commands, with all of them unless told. */
async function loadProgram(loads = Object.values(COMMANDS)): Promise<Command> {
  const program = new Command('offerbook')
    .description('Retailers, offers and transactions over HTTP.')
    .version(VERSION_WORDS);
  for (const load of loads) program.addCommand(await load());
  return program;
}

/** Commander would exit by itself, and print help in a way that cannot be waited for. */
function prepare(command: Command, writeOut: (text: string) => void): void {
  command
    .exitOverride()
    .configureOutput({ writeOut, writeErr: (text) => printNote(text.trimEnd()) })
    .showHelpAfterError('(add --help for what this takes)');
  for (const sub of command.commands) prepare(sub, writeOut);
}

/** That of the work itself, if what it had opened could not be closed after it either. */
function ownFailure(error: unknown): unknown {
  return error instanceof SuppressedError ? ownFailure(error.suppressed) : error;
}

function explain(error: unknown): number {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof BadInput || error instanceof Refused) {
    // A list of bad rows, or of mistakes in a file, speaks for itself, line by line.
    printNote(error.message.includes('\n') ? error.message : `offerbook: ${error.message}`);
    return error instanceof Refused ? 3 : 2;
  }
  if (error instanceof FaultFound) return error.exitCode;
  if (error instanceof OutputFailure && error.isReaderGone) return 0;
  if (isStorageError(error)) {
    printNote(`offerbook: ${storageWords(error)}`);
    return storageExitCode(error);
  }
  if ([ServiceFailure, OutputFailure].some((kind) => error instanceof kind)) {
    printNote(`offerbook: ${(error as Error).message}`);
    return 1;
  }
  printNote(
    `offerbook: unexpected failure: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return 1;
}
