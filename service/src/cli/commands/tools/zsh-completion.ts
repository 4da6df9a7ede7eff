// The completion script for zsh, with the descriptions from --help.

import type { CommandHelp } from './command-help.ts';

export function zshCompletion(all: readonly CommandHelp[]): string {
  const paths = all.filter(({ path }) => path !== '').map(({ path }) => quote(path));
  const cases = all.map((command) => {
    const commands = command.commands.map(({ name, description }) => described(name, description));
    const choices = command.choices.map((choice) => quote(choice));
    const options = command.options.flatMap(({ flags, description }) =>
      flags.map((flag) => described(flag, description)),
    );
    return `    ${quote(command.path)})
      commands=(${[...commands, ...choices].join(' ')})
      options=(${options.join(' ')}) ;;`;
  });
  const values = all.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== '')
      .flatMap(({ flags }) => flags.map((flag) => quote(`${path}:${flag}`))),
  );
  return `#compdef offerbook
_offerbook() {
  local route='' word next
  local -a commands options
  for word in "\${(@)words[2,CURRENT - 1]}"; do
    next="\${route:+$route }$word"
    case $next in
      (${paths.join('|')}) route=$next ;;
    esac
  done
  case "$route:$words[CURRENT - 1]" in
    (${values.join('|')}) _files; return ;;
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
  return quote(`${word.replaceAll(':', '\\:')}:${description}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
