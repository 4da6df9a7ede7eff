// Commands that a scenario needs to succeed.

import { offerbook, type RunOptions } from '../../support/command.ts';
import { ndjson } from '../../support/test-node.ts';

type Environment = Readonly<Record<string, string>>;

/** Returns what the command prints; throws if it fails. */
export async function runCommand(
  args: readonly string[],
  env: Environment,
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await offerbook(args, { env, ...options });
  if (code !== 0) throw new Error(`offerbook ${args.join(' ')} exited with ${code}: ${stderr}`);
  return stdout;
}

/** Imports rows; `what` is the kind, followed by options. */
export async function importAll(
  [kind = '', ...options]: readonly string[],
  rows: readonly object[],
  env: Environment,
): Promise<void> {
  await runCommand(['import', kind, '-', ...options], env, { stdin: ndjson(rows) });
}

export async function issueToken(
  kind: 'public' | 'private',
  env: Environment,
  org = 'acme',
): Promise<{ readonly id: string; readonly token: string }> {
  const args = ['tokens', 'issue', '--org', org, '--kind', kind, '--json'];
  return JSON.parse(await runCommand(args, env)) as { id: string; token: string };
}
