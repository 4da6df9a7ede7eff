// Clicks and revocations on a disk that is nearly or entirely full.

import { expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServeSettings } from '../../src/config.ts';
import { digestToken } from '../../src/domain/access-token.ts';
import { ActivationNode } from '../support/activation-node.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { freePort } from '../support/postgres-server.ts';
import { SmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';

const canMount = await SmallDisk.canMount();
const MEGABYTE = 1e6;
const PLAIN = 'https://www.r1.example/';

async function startNode(databaseUrl: string, settings: Partial<ServeSettings>) {
  const adminPort = await freePort();
  const app = await ActivationNode.start({ databaseUrl, settings: { ...settings, adminPort } });
  const path = () => app.coupon({ passbackUid: crypto.randomUUID() });
  return {
    node: app.node,
    click: async () => (await app.get(path())).headers.get('Location') ?? '',
    post: async () => (await app.send('POST', path())).status,
    readyz: async () => (await app.get('/readyz')).json(),
    diskLow: async () => {
      const page = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
      return /^offerbook_clicks_disk_low (.*)$/m.exec(page)?.[1];
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test.if(canMount)(
  'below the disk reserve, clicks are not recorded, users are redirected untracked, and /readyz and the metric report low disk space',
  async () => {
    await using disk = await SmallDisk.mount(64);
    await using scene = await startNode(`sqlite:${join(disk.folder, 'shop.db')}`, {
      diskReserve: 32,
      spool: disk.folder,
    });
    const { node, click, post, readyz, diskLow } = scene;
    expect(await click()).toStartWith('https://network.example/');
    expect([await readyz(), await diskLow()]).toEqual([{ status: 'ready', database: 'usable' }, '0']);
    const filling = join(disk.folder, 'filling');
    writeFileSync(filling, Buffer.alloc(40 * MEGABYTE));
    await until(diskLow, (value) => value === '1');
    expect(await click()).toBe(PLAIN);
    expect(await post()).toBe(503);
    expect(await readyz()).toEqual({ status: 'ready', database: 'usable', clicks: 'lost', disk: 'low' });
    expect(await node.stores.clicks.list(10)).toHaveLength(1);
    rmSync(filling);
    await until(diskLow, (value) => value === '0');
    await until(readyz, (state) => !('clicks' in (state as object)));
    expect(await click()).toStartWith('https://network.example/');
    expect(await readyz()).toEqual({ status: 'ready', database: 'usable' });
  },
);

test.if(canMount && DATABASES.some(({ name }) => name === 'PostgreSQL'))(
  'with PostgreSQL, a nearly full spool disk is reported as low, and clicks still go to the database',
  async () => {
    const databaseUrl = await DATABASES.find(({ name }) => name === 'PostgreSQL')?.create();
    await using disk = await SmallDisk.mount(16);
    await using scene = await startNode(databaseUrl ?? '', { diskReserve: 32, spool: disk.folder });
    expect([await scene.readyz(), await scene.diskLow()]).toEqual([
      { status: 'ready', database: 'usable', disk: 'low' },
      '1',
    ]);
    expect(await scene.click()).toStartWith('https://network.example/');
  },
);

test.if(canMount)(
  'a nearly full database disk is reported as low, and clicks go to the spool on another disk',
  async () => {
    await using disk = await SmallDisk.mount(64);
    await using scene = await startNode(`sqlite:${join(disk.folder, 'shop.db')}`, {
      diskReserve: 32,
      spool: temporaryFolder(),
    });
    writeFileSync(join(disk.folder, 'filling'), Buffer.alloc(40 * MEGABYTE));
    await until(scene.diskLow, (value) => value === '1');
    expect(await scene.click()).toStartWith('https://network.example/');
    expect(await scene.node.stores.clicks.list(10)).toEqual([]);
    expect(await scene.readyz()).toMatchObject({ clicks: 'spooled', disk: 'low' });
  },
);

test.if(canMount)('tokens can be revoked while the disk is full, also if no server is running', async () => {
  await using disk = await SmallDisk.mount(32);
  const databaseUrl = `sqlite:${join(disk.folder, 'shop.db')}`;
  await using scene = await startNode(databaseUrl, { diskReserve: 0, spool: temporaryFolder() });
  const { node } = scene;
  const tokens = [await node.token('public'), await node.token('public'), await node.token('public')];
  const last = await node.token('private');
  const { tokens: known } = await node.stores.tokens.list();
  for (const token of tokens) expect((await node.get('/v1/retailers/', token)).status).toBe(200);
  const revoke = async (text: string) => {
    disk.fill();
    const tokenId = known.find(({ digest }) => digest === digestToken(text))?.id ?? '';
    const { code, stderr } = await offerbook(['tokens', 'revoke', tokenId, '--database', databaseUrl]);
    expect([code, stderr]).toEqual([0, '']);
  };
  for (const token of tokens) await revoke(token);
  for (const token of tokens)
    await until(async () => (await node.get('/v1/retailers/', token)).status === 401);
  await node[Symbol.asyncDispose]();
  await revoke(last);
});
