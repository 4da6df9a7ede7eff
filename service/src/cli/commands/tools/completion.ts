// offerbook completion: prints a shell's completion script. The script contains all command and option names, so completing a
// word does not start a process. zsh and fish also show the descriptions from --help.

import { Argument, Command } from 'commander';
import { print } from '../../output.ts';
import { type CommandHelp, type OptionHelp, readHelp } from './command-help.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

export function completionCommand(loadProgram: () => Promise<Command>): Command {
  return new Command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      `
Example:
  offerbook completion bash > /etc/bash_completion.d/offerbook
  offerbook completion zsh > "\${fpath[1]}/_offerbook"
  offerbook completion fish > ~/.config/fish/completions/offerbook.fish`,
    )
    .action(async (shell: keyof typeof SHELLS) => print(SHELLS[shell](readHelp(await loadProgram()))));
}

/** All commands and subcommands, such as `import catalogue`. */
function pathsOf(all: readonly CommandHelp[]): string[] {
  return all.map(({ path }) => path).filter((path) => path !== '');
}

/** All options that take a value, with the path of their command, such as `import catalogue:--by`. */
function valuedFlags(all: readonly CommandHelp[]): string[] {
  return all.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== '')
      .flatMap(({ flags }) => flags.map((flag) => `${path}:${flag}`)),
  );
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** If nothing matches, bash completes file names. */
function bashCompletion(all: readonly CommandHelp[]): string {
  const cases = all.map(({ path, commands, choices, options }) => {
    const names = [...commands.map(({ name }) => name), ...choices].join(' ');
    return `    '${path}') names='${names}' options='${options.flatMap(({ flags }) => flags).join(' ')}' ;;`;
  });
  return `# bash completion for offerbook
_offerbook() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path='' names='' options='' word next
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    next="\${path:+$path }$word"
    case $next in
    ${pathsOf(all).map(singleQuoted).join(' | ')}) path=$next ;;
    esac
  done
  case "$path:$previous" in
    ${valuedFlags(all).map(singleQuoted).join(' | ')}) return ;;
  esac
  case $path in
${cases.join('\n')}
  esac
  [[ $current == -* ]] && names=$options
  COMPREPLY=($(compgen -W "$names" -- "$current"))
}
complete -o default -F _offerbook offerbook
`;
}

function zshCompletion(all: readonly CommandHelp[]): string {
  const cases = all.map((command) => {
    const commands = command.commands.map(({ name, description }) => described(name, description));
    const choices = command.choices.map((choice) => singleQuoted(choice));
    const options = command.options.flatMap(({ flags, description }) =>
      flags.map((flag) => described(flag, description)),
    );
    return `    ${singleQuoted(command.path)})
      commands=(${[...commands, ...choices].join(' ')})
      options=(${options.join(' ')}) ;;`;
  });
  return `#compdef offerbook
_offerbook() {
  local route='' word next
  local -a commands options
  for word in "\${(@)words[2,CURRENT - 1]}"; do
    next="\${route:+$route }$word"
    case $next in
      (${pathsOf(all).map(singleQuoted).join('|')}) route=$next ;;
    esac
  done
  case "$route:$words[CURRENT - 1]" in
    (${valuedFlags(all).map(singleQuoted).join('|')}) _files; return ;;
  esac
  case $route in
${cases.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe option options
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}
if [[ $funcstack[1] == _offerbook ]]; then _offerbook "$@"; else compdef _offerbook offerbook; fi
`;
}

/** A word and its description for _describe, separated by a colon; colons in the word are escaped. */
function described(word: string, description: string): string {
  return singleQuoted(`${word.replaceAll(':', '\\:')}:${description}`);
}

function fishCompletion(all: readonly CommandHelp[]): string {
  return `# fish completion for offerbook
function __offerbook_at
    set -l path ''
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
        set -l next (string trim -- "$path $word")
        contains -- $next ${pathsOf(all).map(fishQuoted).join(' ')}; and set path $next
    end
    test "$path" = "$argv[1]"
end
${all.flatMap(fishLines).join('\n')}
`;
}

function fishLines({ path, commands, options, choices }: CommandHelp): string[] {
  const at = `complete --command offerbook --condition ${fishQuoted(`__offerbook_at ${fishQuoted(path)}`)}`;
  // Commands that accept files keep fish's file completion.
  const withoutFiles = commands.length > 0 || choices.length > 0 ? ' --no-files' : '';
  return [
    ...commands.map(
      ({ name, description }) =>
        `${at}${withoutFiles} --arguments ${fishQuoted(name)} --description ${fishQuoted(description)}`,
    ),
    ...choices.map((choice) => `${at}${withoutFiles} --arguments ${fishQuoted(choice)}`),
    ...options.map((option) => `${at}${fishFlags(option)} --description ${fishQuoted(option.description)}`),
  ];
}

function fishFlags({ flags, value }: OptionHelp): string {
  const printed = flags.map((flag) =>
    flag.startsWith('--') ? ` --long-option ${flag.slice(2)}` : ` --short-option ${flag.slice(1)}`,
  );
  return `${printed.join('')}${value !== '' ? ' --require-parameter' : ''}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
