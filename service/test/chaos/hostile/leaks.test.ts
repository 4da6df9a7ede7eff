// Secrets: the leak check of a test run works, and no component that receives a token logs or shows it.

import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { newTokenText } from '../../../src/domain/access-token.ts';
import { commandLine, runProgram, ServerProcess } from '../../support/command.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { offer, retailer, transaction } from '../../support/fixtures.ts';
import { LeakWatch, leakWatch } from '../../support/leak-watch.ts';
import { freePort } from '../../support/postgres-server.ts';
import { ndjson } from '../../support/test-node.ts';

const SUPPORT = join(import.meta.dir, '..', '..', 'support');

describe('the leak check for a test run', () => {
  const token = newTokenText('private');

  test.each([
    ['a token', `Authorization: Bearer ${token}`],
    ['a piece of one', `…${token.slice(10, 22)}…`],
    ['one in a URL', `/v1/transactions/?token=${token}&limit=1`],
    ['one that was not registered when it was issued', newTokenText('public')],
  ])('the leak check finds %s, regardless of when it was printed', (_what, output) => {
    const watch = new LeakWatch();
    watch.noteOutput('log', 'first line');
    watch.noteOutput('log', `second line\n${output}\nthird line`);
    watch.noteToken(token);
    const leaks = watch.findLeaks();
    expect(leaks).toHaveLength(1);
    expect(leaks.join()).not.toContain(token.slice(10, 22));
  });

  test('the leak check does not report strings that are not tokens', () => {
    const watch = new LeakWatch();
    watch.noteToken(token);
    watch.noteOutput('log', `ob_prv_ ${token.slice(0, 15)} ob_prv_${'a'.repeat(36)} ${crypto.randomUUID()}`);
    expect(watch.findLeaks()).toEqual([]);
  });

  test('a leak makes the test run fail', async () => {
    // Not in the project's root, so that its bunfig.toml does not apply and start a database.
    const command = [process.execPath, 'test', '--preload', './leak-check.ts', './leaking-run.ts'];
    const { code, stderr } = await runProgram(command, { cwd: SUPPORT });
    expect(stderr).toContain('a token was leaked');
    expect(code).toBe(1);
  });
});

test('a token does not appear in any log, error, metric or process list, wherever it is sent', async () => {
  const env = { OFFERBOOK_DATABASE_URL: `sqlite:${join(temporaryFolder(), 'leaks.db')}` };
  const { run } = commandLine(() => ({ env }));
  await run('orgs create acme');
  await run('import catalogue -', { stdin: ndjson([retailer(1, { cashbackOffers: [offer(2)] })]) });
  await run('import transactions - --org acme', { stdin: ndjson([transaction(1)]) });
  const issue = async (kind: string) => (await run(`tokens issue --org acme --kind ${kind}`)).stdout.trim();
  const tokens = [await issue('public'), await issue('private')];
  const adminPort = await freePort();
  const args = ['--admin-port', String(adminPort), '--log-level', 'debug'];
  await using server = await ServerProcess.start(args, { env });
  const seen: string[] = [];
  for (const token of tokens) {
    const attempts: [path: string, headers: Record<string, string>][] = [
      ['/v1/retailers/', { Authorization: `Bearer ${token}` }],
      ['/v1/transactions/', { Authorization: `Bearer ${token}` }],
      ['/v1/transactions/', { Authorization: `Bearer ${token}`, Origin: 'https://shop.example' }],
      ['/v1/transactions/?limit=0', { Authorization: `Bearer ${token}` }],
      ['/v1/retailers/', { Authorization: `Bearer ${token}x` }],
      ['/v1/retailers/', { Authorization: `Basic ${token}` }],
      ['/v1/retailers/', { Authorization: token }],
      ['/v1/retailers/', { Cookie: `token=${token}`, 'X-Api-Key': token, 'X-Forwarded-For': token }],
      [`/v1/cashback-offers/?access_token=${token}`, {}],
      [`/v1/cashback-offers/?country=${token}`, { Authorization: `Bearer ${token}` }],
    ];
    for (const [path, headers] of attempts) {
      const response = await fetch(server.url + path, { headers });
      seen.push(JSON.stringify([...response.headers]), await response.text());
    }
    for (const { stdout, stderr } of [
      await run('tokens verify', { stdin: token }),
      await run(`follow --url ${server.url} --once`, { env: { OFFERBOOK_PRIVATE_TOKEN: token } }),
    ])
      seen.push(stdout, stderr);
  }
  seen.push(await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text());
  seen.push((await run('tokens list --json')).stdout);
  await server.stop();
  seen.push(...server.logLines);
  const watch = new LeakWatch();
  for (const token of tokens) watch.noteToken(token);
  watch.noteOutput('seen', seen.join('\n'));
  expect(watch.findLeaks()).toEqual([]);
  // The leak check of this test run has recorded the same output, and will check it at the end.
  expect(leakWatch.seen.tokens).toBeGreaterThanOrEqual(tokens.length);
  expect(leakWatch.seen.outputCharacters).toBeGreaterThan(server.logLines.join('').length);
  expect(tokens).toEqual([expect.stringMatching(/^ob_pub_/), expect.stringMatching(/^ob_prv_/)]);
});
