// service/bin/offerbook, the shell script that finds Bun and the program.

import { expect, test } from 'bun:test';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json';
import { newTokenText } from '../../src/domain/access-token.ts';
import { offerbook, printed, rejected, runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { HOSTILE_VARIABLES, hostileFolder } from '../support/hostile-folder.ts';
import { localServer } from '../support/local-server.ts';
import { newCertificate } from '../support/new-certificate.ts';

const launch = (command: string, PATH: string) => runProgram([command, '--version'], { env: { PATH } });

/** A folder for PATH with links to only these programs. */
function onlyPrograms(...names: string[]): string {
  const folder = temporaryFolder();
  for (const name of names) symlinkSync(Bun.which(name) ?? '', join(folder, name));
  return folder;
}

const LAUNCHER = join(import.meta.dir, '../../bin/offerbook');
const STARTED = printed(`${manifest.version}\n`);

test('the launcher starts through symbolic links and needs no program except readlink', async () => {
  const folder = temporaryFolder();
  symlinkSync(LAUNCHER, join(folder, 'first'));
  symlinkSync('first', join(folder, 'second'));
  expect(await launch(join(folder, 'second'), onlyPrograms('readlink'))).toEqual(STARTED);
});

test('the launcher exits with an error if it cannot find its own folder', async () => {
  expect(await launch(LAUNCHER, onlyPrograms())).toEqual(
    rejected(/offerbook: cannot find its own folder; check that readlink is in the PATH\n$/, 1),
  );
});

test('the launcher exits with an error if Bun is not installed', async () => {
  const folder = join(temporaryFolder(), 'service', 'bin');
  mkdirSync(folder, { recursive: true });
  cpSync(LAUNCHER, join(folder, 'offerbook'));
  expect(await launch(join(folder, 'offerbook'), onlyPrograms('readlink'))).toEqual(
    rejected("Bun is missing; run npm ci in the project's root", 1),
  );
});

test('the launcher removes variables that turn off the check of certificates or print tokens', async () => {
  const { certificate, key } = await newCertificate(temporaryFolder(), 'self-signed');
  let requests = 0;
  const answer = () => Response.json({ data: [] }, { headers: { 'X-Seen': String(++requests) } });
  await using server = localServer(answer, { cert: Bun.file(certificate), key: Bun.file(key) });
  const token = newTokenText('private');
  const follow = (url: string, env: Record<string, string>) =>
    offerbook(['follow', '--once', '--url', url], {
      command: [LAUNCHER],
      env: { OFFERBOOK_PRIVATE_TOKEN: token, ...env },
    });
  const url = `https://localhost:${server.port}`;
  const { code } = await follow(url, { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  expect([code, requests]).toEqual([1, 0]);
  const { stdout, stderr } = await follow('http://127.0.0.1:1', { BUN_CONFIG_VERBOSE_FETCH: 'curl' });
  expect(stdout + stderr).not.toContain(token);
});

test('the launcher does not run code or read settings from the working directory', async () => {
  const options = { command: [LAUNCHER], cwd: hostileFolder(), env: HOSTILE_VARIABLES };
  const { code, stdout, stderr } = await offerbook(['orgs', 'list'], options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('offerbook.db');
});
