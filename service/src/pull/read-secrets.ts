// Reads the credentials that a source file refers to. Their values never appear in messages.

import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Secrets } from '@offerbook/feeds/pull/network-pull.ts';
import type { SecretPlace, Source } from '@offerbook/feeds/source/source-file.ts';
import { BadInput } from '@offerbook/wire/failures.ts';

const OTHERS_CAN_READ = 0o004;

export function readSecrets(
  source: Source,
  sourcePath: string,
  readVariable: (name: string) => string | undefined,
): Secrets {
  const places = 'credentials' in source ? source.credentials : undefined;
  if (places === undefined) {
    throw new BadInput(
      `${sourcePath} has no "credentials"; see offerbook convert --example ${source.network}`,
    );
  }
  return Object.fromEntries(
    Object.entries(places).map(([name, place]) => [name, readSecret(place, sourcePath, readVariable)]),
  );
}

function readSecret(
  { file, env }: SecretPlace,
  sourcePath: string,
  readVariable: (name: string) => string | undefined,
): string {
  if (env !== undefined) return checkSecret(readVariable(env) ?? '', `the environment variable ${env}`);
  const path = resolve(dirname(sourcePath), file ?? '');
  let text: string;
  let mode: number;
  try {
    mode = statSync(path).mode;
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new BadInput(`${path} ${reason}; ${sourcePath} expects a secret there`, { cause: error });
  }
  if ((mode & OTHERS_CAN_READ) !== 0) {
    throw new BadInput(`${path} contains a secret, but every user can read it; run: chmod 600 ${path}`);
  }
  return checkSecret(text.trim(), path);
}

/** A line break in a header would be an error whose message contains the secret. */
function checkSecret(text: string, place: string): string {
  if (text === '') throw new BadInput(`${place} is empty, but must contain a secret`);
  if (!/^[\x21-\x7e]+$/.test(text)) throw new BadInput(`${place} must contain one secret, without spaces`);
  return text;
}
