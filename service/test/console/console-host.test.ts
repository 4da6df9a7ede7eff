// The console's thread, tested through the admin port.

import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Refused } from '@offerbook/wire/failures.ts';
import { openConsoleHost } from '../../src/cli/node/console/console-host.ts';
import type { NodeView } from '../../src/console/page-context.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { rejection } from '../storage/open-test-stores.ts';
import { temporaryFolder } from '../support/databases.ts';

test('a request during shutdown is rejected and does not start a thread, which would keep the database open', async () => {
  const folder = temporaryFolder();
  const databaseUrl = `sqlite:${join(folder, 'test.db')}`;
  await (await openStores(databaseUrl, CREATE_OPTIONS)).close();
  const host = openConsoleHost({ databaseUrl, folder, explorer: undefined });
  const ask = () => host.answer(new Request('http://localhost/organisations'), '', {} as NodeView);
  const closing = host.close();
  const during = rejection(ask());
  await closing;
  expect([await during, await rejection(ask())]).toEqual(Array(2).fill(new Refused('the node is stopping')));
  expect(readdirSync(folder)).toEqual(['test.db']);
});
