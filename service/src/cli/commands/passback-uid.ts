// The identifier of a user as an option. It may name a person, and what is an argument can be read by everybody on the
// machine, and stays in the history of the shell: `-` reads it from stdin instead. No message repeats it.

import { BadInput } from '@offerbook/wire/failures.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';

export const PASSBACK_UID_HELP = 'the identifier that was supplied at activation; - reads it from stdin';

export async function readPassbackUid(option: string): Promise<string> {
  const text = option === '-' ? (await Bun.stdin.text()).replace(/\r?\n$/, '') : option;
  if (text === '') throw new BadInput('--passback-uid must not be empty');
  if (text.length > TEXT_LENGTH_MAX)
    throw new BadInput(`--passback-uid has at most ${TEXT_LENGTH_MAX} characters`);
  return text;
}
