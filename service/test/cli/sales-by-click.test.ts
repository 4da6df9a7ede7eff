// The circle on the command line: an Awin file whose sub-ids are clicks of ours becomes transactions of the right
// organisations and users.

import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClickIds } from '../../src/activation/click-id.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { CREATE_OPTIONS, openStores } from '../../src/storage/open-stores.ts';
import { offerbook } from '../support/command.ts';
import { DATABASES, temporaryFolder } from '../support/databases.ts';
import { id } from '../support/fixtures.ts';

const AWIN = join(import.meta.dir, '../../../examples/data/awin');

test.each(DATABASES)(
  'an Awin file with click ids, imported by two processes at once, on $name',
  async ({ create }) => {
    const cwd = temporaryFolder();
    const databaseUrl = await create();
    const run = (...args: string[]) => offerbook(args, { cwd, env: { OFFERBOOK_DATABASE_URL: databaseUrl } });
    const stores = await openStores(databaseUrl, CREATE_OPTIONS);
    const clicks: string[] = [];
    for (const name of ['acme', 'globex']) {
      const org = await stores.organisations.create(name);
      const nowMs = systemClock();
      const click = new ClickIds(await stores.clickKey()).make(org?.id ?? 0, nowMs);
      clicks.push(click);
      await stores.clicks.put([
        {
          id: click,
          orgId: org?.id ?? 0,
          kind: 'cashbackOffers',
          dealId: id(11),
          retailerId: id(1),
          passbackUid: `user of ${name}`,
          passbackData: null,
          activatedAtMs: nowMs,
          clickedAtMs: nowMs,
          isTracked: true,
        },
      ]);
    }
    await stores.close();

    const source = JSON.parse(readFileSync(join(AWIN, 'source.json'), 'utf8')) as object;
    writeFileSync(
      join(cwd, 'source.json'),
      JSON.stringify({ ...source, subId: 'click', overlay: undefined }),
    );
    const [template] = JSON.parse(readFileSync(join(AWIN, 'transactions.json'), 'utf8')) as object[];
    const sale = (number: number, clickRef: string) => ({ ...template, id: number, clickRefs: { clickRef } });
    const sales = [...clicks.map((click, number) => sale(number + 1, click)), sale(3, 'somebody-elses')];
    writeFileSync(join(cwd, 'sales.json'), JSON.stringify(sales));
    const converted = await run(
      'convert',
      'transactions',
      '--from',
      'awin',
      '--source',
      'source.json',
      'sales.json',
      '--out',
      'rows.ndjson',
    );
    expect(converted.code).toBe(0);

    const refused = await run('import', 'transactions', 'rows.ndjson');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'line 3: clickId is not the id of a click of ours\nNothing was imported: 1 of 3 rows is bad.\n',
    ]);
    const both = await Promise.all(
      [1, 2].map((n) => run('import', 'transactions', 'rows.ndjson', '--unattributed', `aside-${n}.ndjson`)),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(both.map(({ stdout }) => / \d added.*unchanged/.exec(stdout)?.[0]).sort()).toEqual([
      ' 0 added, 0 changed, 2 unchanged',
      ' 2 added, 0 changed, 0 unchanged',
    ]);
    for (const [index, name] of ['acme', 'globex'].entries()) {
      const rows = (await run('export', 'transactions', '--org', name)).stdout.trim().split('\n');
      expect(rows.map((row) => JSON.parse(row))).toMatchObject([
        { passbackUid: `user of ${name}`, cashbackOfferId: id(11), orderValue: 81, status: 'PENDING' },
      ]);
      const aside = readFileSync(join(cwd, `aside-${index + 1}.ndjson`), 'utf8')
        .trim()
        .split('\n');
      expect(aside.map((row) => JSON.parse(row))).toMatchObject([
        { clickId: 'somebody-elses', orderValue: 81 },
      ]);
    }
  },
);
