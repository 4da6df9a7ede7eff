// The command line: lists the commands, and maps every error to a message and an exit code.
//   0 success   1 unexpected failure   2 wrong usage or invalid input   3 refused by a safety check

import { BadInput, FaultFound, Refused, ServiceFailure } from '@offerbook/wire/failures.ts';
import { Command, CommanderError } from 'commander';
import { VERSION_TEXT } from '../domain/build.ts';
import { isStorageError } from '../domain/storage-error.ts';
import { OutputFailure, print, printNote } from './output.ts';
import { storageExitCode, storageMessage } from './storage-failure.ts';

type Load = () => Promise<Command>;

/** The commands, grouped by their heading in --help. Each command is imported only when it is needed, to keep start-up fast. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Running:': {
    serve: async () => (await import('./commands/running/serve.ts')).serveCommand(),
    sandbox: async () => (await import('./commands/sandbox/sandbox.ts')).sandboxCommand(),
    doctor: async () => (await import('./commands/running/doctor.ts')).doctorCommand(),
    probe: async () => (await import('./commands/running/probe.ts')).probeCommand(),
    migrate: async () => (await import('./commands/running/migrate.ts')).migrateCommand(),
    backup: async () => (await import('./commands/running/backup.ts')).backupCommand(),
    restore: async () => (await import('./commands/running/restore.ts')).restoreCommand(),
    failover: async () => (await import('./commands/running/failover.ts')).failoverCommand(),
    copy: async () => (await import('./commands/running/copy.ts')).copyCommand(),
  },
  'Data:': {
    import: async () => (await import('./commands/data/import.ts')).importCommand(),
    imports: async () => (await import('./commands/data/imports.ts')).importsCommand(),
    convert: async () => (await import('./commands/data/convert.ts')).convertCommand(),
    pull: async () => (await import('./commands/data/pull.ts')).pullCommand(),
    export: async () => (await import('./commands/data/export.ts')).exportCommand(),
    transactions: async () => (await import('./commands/data/transactions.ts')).transactionsCommand(),
    activations: async () => (await import('./commands/data/activations.ts')).activationsCommand(),
    follow: async () => (await import('./commands/data/follow.ts')).followCommand(),
  },
  'Access:': {
    orgs: async () => (await import('./commands/access/organisations.ts')).organisationsCommand(),
    tokens: async () => (await import('./commands/access/tokens.ts')).tokensCommand(),
    webhooks: async () => (await import('./commands/access/webhooks.ts')).webhooksCommand(),
    audit: async () => (await import('./commands/access/audit.ts')).auditCommand(),
  },
  'Personal data:': {
    erase: async () => (await import('./commands/personal-data/erase.ts')).eraseCommand(),
    purge: async () => (await import('./commands/personal-data/purge.ts')).purgeCommand(),
  },
  'Tools:': {
    mcp: async () => (await import('./commands/tools/mcp.ts')).mcpCommand(),
    openapi: async () => (await import('./commands/tools/openapi.ts')).openApiCommand(),
    completion: async () => (await import('./commands/tools/completion.ts')).completionCommand(loadProgram),
    manual: async () => (await import('./commands/tools/manual.ts')).manualCommand(loadProgram),
  },
};

const COMMANDS = new Map(Object.values(GROUPS).flatMap((commands) => Object.entries(commands)));

const VERSION_FLAGS = ['-V', '--version'];

export async function run(args: readonly string[]): Promise<number> {
  const [first = ''] = args;
  const named = COMMANDS.get(first);
  const needsAll = named === undefined && !VERSION_FLAGS.includes(first);
  const program = needsAll ? await loadProgram() : newProgram();
  if (named !== undefined) program.addCommand(await named());
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

export async function loadProgram(): Promise<Command> {
  const program = newProgram();
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(heading);
    for (const load of Object.values(commands)) program.addCommand(await load());
  }
  // Puts `help` into the last group.
  return program.helpCommand(true);
}

function newProgram(): Command {
  return new Command('offerbook')
    .description('Retailers, offers and transactions over HTTP.')
    .version(VERSION_TEXT)
    .enablePositionalOptions();
}

/**
 * Stops Commander from exiting the process, and passes its help text to `writeOut`, so that the caller can wait for the output.
 */
function prepare(command: Command, writeOut: (text: string) => void): void {
  command
    .configureOutput({
      writeOut,
      writeErr: (text) => printNote(text.trimEnd()),
      outputError: () => {},
    })
    .exitOverride((error) => {
      if (isUsageError(error))
        printNote(`offerbook: ${usageMessage(command, error)}\n(run with --help for usage)`);
      throw error;
    });
  for (const sub of command.commands) prepare(sub, writeOut);
}

/** False if Commander ended the command after printing help or the version. */
function isUsageError({ code }: CommanderError): boolean {
  return !['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}

/** Returns Commander's message, but lists all missing options instead of only the first. */
function usageMessage(command: Command, { code, message }: CommanderError): string {
  if (code === 'commander.missingMandatoryOptionValue') {
    const missing = [
      ...command.options
        .filter((option) => option.mandatory && command.getOptionValue(option.attributeName()) === undefined)
        .map(({ flags, envVar }) => (envVar === undefined ? flags : `${flags} (or ${envVar})`)),
      ...command.registeredArguments
        .slice(command.args.length)
        .filter(({ required }) => required)
        .map((argument) => `<${argument.name()}>`),
    ];
    return `missing ${missing.join(', ')}`;
  }
  return message.replace(/^error: /, '').replace('\n(Did', ' (did');
}

/** Returns the command's own error, even if closing the database also failed. */
function ownFailure(error: unknown): unknown {
  return error instanceof SuppressedError ? ownFailure(error.suppressed) : error;
}

/** Prints the error and returns the exit code. */
function explain(error: unknown): number {
  // The message or the help has already been printed.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof FaultFound) return error.exitCode;
  if (error instanceof OutputFailure && error.isReaderGone) return 0;
  if (error instanceof BadInput) return fail(error.message, 2);
  if (error instanceof Refused) return fail(error.message, 3);
  if (isStorageError(error)) return fail(storageMessage(error), storageExitCode(error));
  if (error instanceof ServiceFailure || error instanceof OutputFailure) return fail(error.message, 1);
  return fail(`unexpected failure: ${error instanceof Error ? error.stack : String(error)}`, 1);
}

/** Prefixes every line, because a message that lists invalid rows has several. */
function fail(message: string, exitCode: number): number {
  for (const line of message.split('\n')) printNote(`offerbook: ${line}`);
  return exitCode;
}
