// offerbook completion: prints a shell's completion script. The script contains all command and option names, so completing a
// word does not start a process.

import { Argument, Command } from 'commander';
import { print } from '../../output.ts';
import { bashCompletion } from './bash-completion.ts';
import { readHelp } from './command-help.ts';
import { fishCompletion } from './fish-completion.ts';
import { zshCompletion } from './zsh-completion.ts';

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
