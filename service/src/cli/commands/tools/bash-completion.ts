// The completion script for bash. If nothing matches, bash completes file names.

import type { CommandHelp } from './command-help.ts';

export function bashCompletion(all: readonly CommandHelp[]): string {
  const paths = all.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`);
  const cases = all.map(({ path, commands, choices, options }) => {
    const names = [...commands.map(({ name }) => name), ...choices].join(' ');
    return `    '${path}') names='${names}' options='${options.flatMap(({ flags }) => flags).join(' ')}' ;;`;
  });
  const values = all.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== '')
      .flatMap(({ flags }) => flags.map((flag) => `'${path}:${flag}'`)),
  );
  return `# bash completion for offerbook
_offerbook() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path='' names='' options='' word next
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    next="\${path:+$path }$word"
    case $next in
    ${paths.join(' | ')}) path=$next ;;
    esac
  done
  case "$path:$previous" in
    ${values.join(' | ')}) return ;;
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
