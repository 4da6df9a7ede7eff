// doctor, the console and the metrics report the same verdicts about the same installation.

import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleSource, secretVariables } from '@offerbook/sandbox/networks/accounts.ts';
import type { Check } from '../../src/health/check.ts';
import { ConsoleNode, textOf } from '../console/open-console.ts';
import { recentDay, ServedNetworks } from '../pull/served-networks.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { transaction } from '../support/fixtures.ts';
import { until } from '../support/until.ts';
import { Receiver } from '../webhooks/receiver.ts';

const VALUES = { ok: 0, warning: 1, fault: 2 };

test.each(DATABASES.map((it) => [it.name, it] as const))(
  'on %s, a failing pull and a rejected webhook are warnings of doctor, the console and the metrics',
  async (_, database) => {
    await using networks = new ServedNetworks();
    await using receiver = new Receiver(() => new Response(null, { status: 410 }));
    const databaseUrl = await database.create();
    await using console_ = await ConsoleNode.start({
      databaseUrl,
      settings: { webhookNetworks: ['127.0.0.1'] },
    });
    const { node } = console_;
    const run = (...args: string[]) => offerbook([...args, '--database', databaseUrl], { cwd: folder, env });
    const folder = temporaryFolder();
    const env = Object.fromEntries(secretVariables('awin').map(({ variable, value }) => [variable, value]));
    const source = { ...exampleSource('awin', networks.url), account: '88888' };
    writeFileSync(join(folder, 'awin.json'), JSON.stringify(source));
    const org = await node.organisation();
    await node.token('private');
    const since = ['--since', recentDay()];
    const pull = await run('pull', 'transactions', '--source', 'awin.json', '--org', 'acme', ...since);
    expect([pull.code, pull.stderr]).toEqual([3, expect.stringContaining('status 403')]);
    await console_.importTransactions([transaction(1)]);
    await node.stores.webhooks.create(org.id, receiver.url, 0);
    await until(
      () => node.stores.webhooks.list(),
      ([webhook]) => webhook?.pausedBy === 'endpoint',
    );

    const doctor = await run('doctor', '--json', '--port', new URL(node.url).port);
    const checks = new Map(
      (JSON.parse(doctor.stdout) as { checks: Check[] }).checks.map((it) => [it.check, it]),
    );
    expect([checks.get('pulls')?.state, checks.get('webhooks')?.state]).toEqual(['warning', 'warning']);
    expect(checks.get('pulls')?.found).toContain('status 403');
    expect(checks.get('webhooks')?.found).toEndWith('of "acme" paused by the endpoint');

    const metrics = await (await console_.get('/metrics')).text();
    const values = new Map(
      [...metrics.matchAll(/^offerbook_check\{check="(.*)"\} (\d)$/gm)].map(([, check = '', value]) => [
        check,
        Number(value),
      ]),
    );
    const common = [...checks.values()].filter(({ check }) => values.has(check));
    expect(common.map(({ check }) => check)).toEqual([
      ...['database', ...(database.name === 'SQLite' ? [] : ['failover'])],
      ...['import of catalogue', 'import of links', 'import of transactions', 'write lock', 'tokens'],
      ...['webhooks', 'pulls', 'disk', 'clicks'],
    ]);
    expect(common.map(({ check }) => [check, values.get(check)])).toEqual(
      common.map(({ check, state }) => [check, VALUES[state]]),
    );

    const page = await console_.page('/');
    const [, list = ''] = /<ul[^>]* aria-label="Problems">(.*?)<\/ul>/s.exec(page.html) ?? [];
    const shown = [...list.matchAll(/<li.*?<strong>(.*?)<\/strong>.*?<bdi>(.*?)<\/bdi>/gs)];
    expect(shown.map(([, check = '', found = '']) => [textOf(check), textOf(found)])).toEqual(
      common.filter(({ state }) => state !== 'ok').map(({ check, found }) => [check, found]),
    );
  },
);
