// offerbook completion: the script by which a shell completes the command, its options and its files. The words are in the
// script: nothing is started while somebody types.

import { Argument, Command } from 'commander';
import { print } from '../../output.ts';
import { bashCompletion } from './bash-completion.ts';
import { readWords } from './command-words.ts';
import { fishCompletion } from './fish-completion.ts';
import { zshCompletion } from './zsh-completion.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** The program with all of its commands is only needed when the command runs. */
export function completionCommand(loadProgram: () => Promise<Command>): Command {
  return new Command('completion')
    .description('print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      `
Example:
  offerbook completion bash > /etc/bash_completion.d/offerbook
  offerbook completion zsh > "\${fpath[1]}/_offerbook"
  offerbook completion fish > ~/.config/fish/completions/offerbook.fish`,
    )
    .action(async (shell: keyof typeof SHELLS) => print(SHELLS[shell](readWords(await loadProgram()))));
}
