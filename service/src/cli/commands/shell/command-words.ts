// The words of the command line, read from the commands themselves: what can follow what. Completions and the manual are
// made from them, so that neither can miss a command or an option.

import type { Command, Option } from 'commander';

export interface OptionWords {
  /** As in --json, or -h and --help. */
  readonly flags: readonly string[];
  /** As in <port>; empty if it takes none. */
  readonly value: string;
  readonly description: string;
}

export interface CommandWords {
  /** As in `import catalogue`; empty for the program itself. */
  readonly path: string;
  readonly description: string;
  /** As in `offerbook import catalogue [options] <file>`. */
  readonly usage: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** What its first argument may be, where that is one of a few. */
  readonly choices: readonly string[];
}

/** Those of a command and of all that are below it, the command itself first. */
export function readWords(command: Command, path = ''): CommandWords[] {
  const help = command.createHelp();
  // `help` is a command of every command; whoever completes words knows --help.
  const commands = help.visibleCommands(command).filter((sub) => sub.name() !== 'help');
  const own: CommandWords = {
    path,
    description: command.description(),
    usage: help.commandUsage(command),
    commands: commands.map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: help.visibleOptions(command).map(optionWords),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  const below = commands.flatMap((sub) => readWords(sub, path === '' ? sub.name() : `${path} ${sub.name()}`));
  return [own, ...below];
}

function optionWords(option: Option): OptionWords {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    value: /<.+>|\[.+\]/.exec(option.flags)?.[0] ?? '',
    description: option.description,
  };
}
