// Reads the program's commands, options and arguments from Commander, so that the completions and the manual are always
// complete.

import type { Command, Option } from 'commander';

export type CommandHelp = ReturnType<typeof commandHelp>;
export type OptionHelp = ReturnType<typeof optionHelp>;

/** Returns a command's help, followed by its subcommands' help. `path` is empty for the program itself. */
export function readHelp(command: Command, path = ''): CommandHelp[] {
  const below = subcommands(command).flatMap((sub) => readHelp(sub, `${path} ${sub.name()}`.trimStart()));
  return [commandHelp(command, path), ...below];
}

/** Commander adds a `help` command everywhere; --help is enough. */
function subcommands(command: Command) {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => sub.name() !== 'help');
}

function commandHelp(command: Command, path: string) {
  const help = command.createHelp();
  return {
    /** For example `import catalogue`. */
    path,
    description: command.description(),
    /** For example `offerbook import catalogue [options] <file>`. */
    usage: help.commandUsage(command),
    commands: subcommands(command).map((sub) => ({ name: sub.name(), description: sub.description() })),
    options: help.visibleOptions(command).map((option) => optionHelp(option, help.optionDescription(option))),
    /** Allowed values of the first argument, if it has a fixed list. */
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
}

function optionHelp(option: Option, description: string) {
  return {
    /** For example --json, or -h and --help. */
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    /** For example <port>; empty for a flag without a value. */
    value: /<.+>|\[.+\]/.exec(option.flags)?.[0] ?? '',
    description,
  };
}
