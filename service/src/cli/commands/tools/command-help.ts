// Reads the program's commands, options and arguments from Commander, so that the completions and the manual are always
// complete.

import type { Command, Option } from 'commander';

export interface OptionHelp {
  /** For example --json, or -h and --help. */
  readonly flags: readonly string[];
  /** For example <port>; empty for a flag without a value. */
  readonly value: string;
  readonly description: string;
}

export interface CommandHelp {
  /** For example `import catalogue`; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  /** For example `offerbook import catalogue [options] <file>`. */
  readonly usage: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionHelp[];
  /** Allowed values of the first argument, if it has a fixed list. */
  readonly choices: readonly string[];
}

/** Returns a command's help, followed by its subcommands' help. */
export function readHelp(command: Command, path = ''): CommandHelp[] {
  const help = command.createHelp();
  // Commander adds a `help` command everywhere; --help is enough.
  const commands = help.visibleCommands(command).filter((sub) => sub.name() !== 'help');
  const own: CommandHelp = {
    path,
    description: command.description(),
    usage: help.commandUsage(command),
    commands: commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: help.visibleOptions(command).map((option) => optionHelp(option, help.optionDescription(option))),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = commands.flatMap((sub) => readHelp(sub, path === '' ? sub.name() : `${path} ${sub.name()}`));
  return [own, ...below];
}

function optionHelp(option: Option, description: string): OptionHelp {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    value: /<.+>|\[.+\]/.exec(option.flags)?.[0] ?? '',
    description,
  };
}
