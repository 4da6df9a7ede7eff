// The completion script for fish, with the descriptions from --help.

import type { CommandHelp, OptionHelp } from './command-help.ts';

export function fishCompletion(all: readonly CommandHelp[]): string {
  const paths = all.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  return `# fish completion for offerbook
function __offerbook_at
    set -l path ''
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
        set -l next (string trim -- "$path $word")
        contains -- $next ${paths.join(' ')}; and set path $next
    end
    test "$path" = "$argv[1]"
end
${all.flatMap(lines).join('\n')}
`;
}

function lines({ path, commands, options, choices }: CommandHelp): string[] {
  const at = `complete --command offerbook --condition ${quote(`__offerbook_at ${quote(path)}`)}`;
  // Commands that accept files keep fish's file completion.
  const withoutFiles = commands.length > 0 || choices.length > 0 ? ' --no-files' : '';
  return [
    ...commands.map(
      ({ name, description }) =>
        `${at}${withoutFiles} --arguments ${quote(name)} --description ${quote(description)}`,
    ),
    ...choices.map((choice) => `${at}${withoutFiles} --arguments ${quote(choice)}`),
    ...options.map((option) => `${at}${printFlags(option)} --description ${quote(option.description)}`),
  ];
}

function printFlags({ flags, value }: OptionHelp): string {
  const printed = flags.map((flag) =>
    flag.startsWith('--') ? ` --long-option ${flag.slice(2)}` : ` --short-option ${flag.slice(1)}`,
  );
  return `${printed.join('')}${value !== '' ? ' --require-parameter' : ''}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
