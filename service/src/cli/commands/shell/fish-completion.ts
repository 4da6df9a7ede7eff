// The completion script for fish, with the descriptions of --help.

import type { CommandWords, OptionWords } from './command-words.ts';

export function fishCompletion(all: readonly CommandWords[]): string {
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

function lines({ path, commands, options, choices }: CommandWords): string[] {
  const at = `complete --command offerbook --condition ${quote(`__offerbook_at ${quote(path)}`)}`;
  // Commands that take files keep fish's file completion.
  const withoutFiles = commands.length > 0 || choices.length > 0 ? ' --no-files' : '';
  return [
    ...commands.map(
      ({ name, description }) =>
        `${at}${withoutFiles} --arguments ${quote(name)} --description ${quote(description)}`,
    ),
    ...choices.map((choice) => `${at}${withoutFiles} --arguments ${quote(choice)}`),
    ...options.map((option) => `${at}${flagWords(option)} --description ${quote(option.description)}`),
  ];
}

function flagWords({ flags, value }: OptionWords): string {
  const words = flags.map((flag) =>
    flag.startsWith('--') ? ` --long-option ${flag.slice(2)}` : ` --short-option ${flag.slice(1)}`,
  );
  return `${words.join('')}${value !== '' ? ' --require-parameter' : ''}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
