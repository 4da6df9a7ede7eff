// doctor and pulls: checks of source files, secrets and networks.

import { expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNTS, exampleSource } from '@offerbook/sandbox/networks/accounts.ts';
import { checkSource } from '../../src/cli/doctor/examine.ts';
import { ServedNetworks } from '../pull/served-networks.ts';
import { temporaryFolder } from '../support/databases.ts';

function write(baseUrl: string, { account = ACCOUNTS.awin.account as string, mode = 0o600 } = {}) {
  const folder = temporaryFolder();
  const credentials = { token: { file: 'awin.token' } };
  const path = join(folder, 'awin.json');
  writeFileSync(path, JSON.stringify({ ...exampleSource('awin', baseUrl), account, credentials }));
  writeFileSync(join(folder, 'awin.token'), ACCOUNTS.awin.credentials.token);
  chmodSync(join(folder, 'awin.token'), mode);
  return path;
}
const look = (path: string, clock = Date.now, allowOtherHost = false) =>
  checkSource(path, allowOtherHost, clock);
const advice = 'until this is fixed, no sales are pulled: docs/feeds.md, Pull';

test('doctor checks a working source with one request', async () => {
  await using networks = new ServedNetworks();
  expect(await look(write(networks.url))).toEqual({
    check: 'source awin:77777',
    state: 'ok',
    found: "the credentials work, and the network's clock agrees",
  });
  expect(networks.answered.length).toBe(1);
});

test('doctor reports an account without access, a wrong clock, and a network that fails or refuses as faults', async () => {
  await using networks = new ServedNetworks();
  const found = async (path: string, clock?: () => number) => {
    const check = await look(path, clock);
    expect(check).toMatchObject({ state: 'fault', advice });
    return check.found;
  };
  expect(await found(write(networks.url, { account: '88888' }))).toBe(
    'the network answered with status 403: "You do not have access to this account"; check what the credentials allow',
  );
  expect(await found(write(networks.url), () => Date.now() + 3_600_000)).toMatch(
    /^this machine's clock is 3\d{3} s ahead of the network's; synchronise it$/,
  );
  await using broken = new ServedNetworks({ faults: () => 'server error' });
  expect(await found(write(broken.url))).toMatch(/^the network answered with status 50\d$/);
  await using busy = new ServedNetworks({ faults: () => 'too many requests' });
  expect(await found(write(busy.url))).toBe(
    "the network's rate limit has been reached; try again in a minute",
  );
  expect([broken.answered.length, busy.answered.length]).toEqual([1, 1]);
});

test('doctor reports unusable files as faults, and sends no request', async () => {
  await using networks = new ServedNetworks();
  const open = write(networks.url, { mode: 0o644 });
  const elsewhere = write('http://192.0.2.1:9000');
  const missing = join(temporaryFolder(), 'missing.json');
  const checks = await Promise.all([open, elsewhere, missing].map((path) => look(path)));
  expect(checks).toEqual(
    [
      [open, expect.stringContaining('every user can read it; run: chmod 600 ')],
      [elsewhere, expect.stringContaining('add --allow-other-host')],
      [missing, expect.stringContaining('missing.json')],
    ].map(([path, found]) => ({
      ...{ check: `source ${path}`, state: 'fault', found },
      advice: 'fix the source file or the files that it names',
    })),
  );
  expect(networks.answered).toEqual([]);
});
