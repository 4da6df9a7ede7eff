// The commands, options and arguments of the program, read from Commander. Completions and the manual are built from them,
// so neither can miss a command or an option.

import type { Command, Option } from 'commander';

export interface OptionWords {
  /** For example --json, or -h and --help. */
  readonly flags: readonly string[];
  /** For example <port>; empty if it takes none. */
  readonly value: string;
  readonly description: string;
}

export interface CommandWords {
  /** For example `import catalogue`; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  /** For example `offerbook import catalogue [options] <file>`. */
  readonly usage: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** Allowed values of the first argument, if it has a fixed list. */
  readonly choices: readonly string[];
}

/** The words of a command, followed by those of its subcommands. */
export function readWords(command: Command, path = ''): CommandWords[] {
  const help = command.createHelp();
  // Commander adds a `help` command everywhere; --help is enough.
  const commands = help.visibleCommands(command).filter((sub) => sub.name() !== 'help');
  const own: CommandWords = {
    path,
    description: command.description(),
    usage: help.commandUsage(command),
    commands: commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: help
      .visibleOptions(command)
      .map((option) => optionWords(option, help.optionDescription(option))),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = commands.flatMap((sub) => readWords(sub, path === '' ? sub.name() : `${path} ${sub.name()}`));
  return [own, ...below];
}

function optionWords(option: Option, description: string): OptionWords {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    value: /<.+>|\[.+\]/.exec(option.flags)?.[0] ?? '',
    description,
  };
}
