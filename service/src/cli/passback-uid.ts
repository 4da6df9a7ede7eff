// The --passback-uid option. The value may identify a person, and arguments are visible to every user of the machine and
// stay in the shell history, so `-` reads it from stdin. Messages never repeat the value.

import { BadInput } from '@offerbook/wire/failures.ts';
import { TEXT_LENGTH_MAX } from '@offerbook/wire/text.ts';

export const PASSBACK_UID_HELP = "the user's passbackUid; - reads it from stdin";

export async function readPassbackUid(option: string): Promise<string> {
  const text = option === '-' ? (await Bun.stdin.text()).replace(/\r?\n$/, '') : option;
  if (text === '') throw new BadInput('--passback-uid must not be empty');
  if (text.length > TEXT_LENGTH_MAX)
    throw new BadInput(`--passback-uid must be at most ${TEXT_LENGTH_MAX} characters`);
  return text;
}
