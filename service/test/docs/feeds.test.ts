// Runs the commands on the networks' pages as written, with a fake curl that returns our fixtures and rejects unknown URLs.
// This shows that the conversions accept the files that the pages fetch.

import { expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkName } from '@offerbook/feeds/source/source-file.ts';
import {
  awinFiles,
  cjFiles,
  impactFiles,
  partnerizeFiles,
  rakutenFiles,
} from '../../../feeds/test/catalogues.ts';
import {
  awinSale,
  cjAnswer,
  cjRecord,
  impactAction,
  impactPage,
  NAMESPACE,
  partnerizeConversion,
  partnerizePage,
  type Row,
  rakutenSku,
} from '../../../feeds/test/fixture.ts';
import { COMMAND, runProgram } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { blocksOf } from '../support/documents.ts';
import { lacks } from '../support/programs.ts';

interface Page {
  /** Responses of the fake curl by URL prefix; the longest matching prefix counts. */
  readonly answers: Readonly<Record<string, string>>;
  readonly source: Row;
  readonly overlay: string;
  /** The reports of the page's conversions, in order. */
  readonly reports: readonly string[];
}

const LOGOS = 'advertiserId,logo,countries\n';
const logo = (id: string, countries = '') => `${id},https://l.example/l.svg,${countries}\n`;

const PAGES: Readonly<Record<Exclude<NetworkName, 'table'>, Page>> = {
  awin: {
    answers: {
      'https://api.awin.com/publishers/77777/transactions/?startDate=': JSON.stringify([awinSale()]),
      'https://api.awin.com/publishers/77777/transactions?ids=': JSON.stringify([awinSale()]),
      'https://api.awin.com/publishers/77777/programmes?relationship=joined': awinFiles.programmes,
      'https://api.awin.com/publishers/77777/commissiongroups?advertiserId=': awinFiles['commission-groups'],
      'https://api.awin.com/publisher/77777/promotions': awinFiles.offers,
    },
    source: { link: 'https://www.awin1.com/cread.php?awinmid={advertiser}&clickref={click}' },
    overlay: LOGOS + logo('20001'),
    reports: ['3 rows to 1 transaction', '9 rows to 2 retailers', '3 rows to 2 links'],
  },
  impact: {
    answers: {
      'https://api.impact.com/Mediapartners/SID/Actions?IrVersion=16&StartDate=': impactPage('Actions', [
        impactAction(),
      ]),
      'https://api.impact.com/Mediapartners/SID/Campaigns?IrVersion=16': impactFiles.campaigns,
      'https://api.impact.com/Mediapartners/SID/Contracts?IrVersion=16&Status=ACTIVE': impactFiles.contracts,
      'https://api.impact.com/Mediapartners/SID/PromoCodes?IrVersion=16': impactFiles['promo-codes'],
      'https://api.impact.com/Mediapartners/SID/Campaigns/10306/Deals?IrVersion=16': impactFiles.deals,
    },
    source: {},
    overlay: LOGOS + logo('10306'),
    reports: ['1 row to 1 transaction', '7 rows to 1 retailer'],
  },
  partnerize: {
    answers: {
      'https://api.partnerize.com/reporting/report_publisher/publisher/111111l92/conversion.json?start_date=':
        partnerizePage([partnerizeConversion()]),
      'https://api.partnerize.com/user/publisher/111111l92/campaign/a.json': partnerizeFiles.campaigns,
      'https://api.partnerize.com/v2/campaigns/111111l29/publishers/111111l92/commissions/active':
        partnerizeFiles['commissions=111111l29'],
      'https://api.partnerize.com/user/publisher/111111l92/campaign/111111l29/voucher':
        partnerizeFiles.vouchers,
    },
    source: { country: 'GB' },
    overlay: LOGOS,
    reports: ['1 row to 1 transaction', '4 rows to 2 retailers'],
  },
  cj: {
    answers: {
      'https://commissions.api.cj.com/query': cjAnswer([cjRecord()]),
      'https://advertiser-lookup.api.cj.com/v2/advertiser-lookup?requestor-cid=': cjFiles.advertisers,
      'https://link-search.api.cj.com/v2/link-search?website-id=': cjFiles.links,
    },
    source: { currency: 'USD' },
    overlay: LOGOS + logo('1234567', 'US'),
    reports: ['2 rows to 1 transaction', '4 rows to 1 retailer'],
  },
  rakuten: {
    answers: {
      'https://api.linksynergy.com/token': '{"access_token":"abc","token_type":"Bearer","expires_in":3600}',
      'https://api.linksynergy.com/events/1.0/transactions?process_date_start=': JSON.stringify([
        rakutenSku(),
      ]),
      'https://api.linksynergy.com/v2/advertisers?page=': rakutenFiles.advertisers,
      'https://api.linksynergy.com/v1/partnerships?partner_status=active': rakutenFiles.partnerships,
      'https://api.linksynergy.com/v1/offers?offer_status=active': rakutenFiles.offers,
      'https://api.linksynergy.com/coupon/1.0?network=1': rakutenFiles.coupons,
    },
    source: { country: 'US' },
    overlay: LOGOS + logo('3358'),
    reports: ['1 row to 1 transaction', '6 rows to 1 retailer'],
  },
};

/**
 * A fake curl with the options that the pages use. Files with credentials must be private, and a body that starts with `{` must
 * be JSON.
 */
const CURL = `#!${process.execPath}
const [answers, args] = [await Bun.file(import.meta.dir + '/answers.json').json(), process.argv.slice(2)];
const value = (name) => args[args.indexOf(name) + 1];
for (const name of ['-H', '-K']) for (const [at, arg] of args.entries()) {
  const file = arg === name ? args[at + 1].replace(/^@/, '') : '';
  if (file !== '' && !file.includes(':') && (await Bun.file(file).stat()).mode & 0o077) throw new Error('others can read ' + file);
}
if (args.includes('-d') && value('-d').startsWith('{')) JSON.parse(value('-d'));
const url = args.find((arg) => arg.startsWith('https://'));
const [begin] = Object.keys(answers).filter((it) => url.startsWith(it)).sort((a, b) => b.length - a.length);
if (begin === undefined) throw new Error('no such address: ' + url);
await Bun.write(args.includes('-o') ? value('-o') : Bun.stdout, answers[begin] + '\\n');
`;

test.skipIf(lacks('bash')).each(Object.entries(PAGES))(
  'the commands in docs/feeds/%s.md fetch files that convert accepts',
  async (name, page) => {
    const cwd = temporaryFolder();
    const executable = (file: string, text: string) => {
      writeFileSync(join(cwd, file), text);
      chmodSync(join(cwd, file), 0o755);
    };
    executable('curl', CURL);
    executable('sleep', '#!/bin/sh\n');
    executable('offerbook', `#!/bin/sh\nexec ${COMMAND} "$@" > /dev/null\n`);
    writeFileSync(join(cwd, 'answers.json'), JSON.stringify(page.answers));
    writeFileSync(join(cwd, 'overlay.csv'), page.overlay);
    const common = { network: name, account: '77777', namespace: NAMESPACE, overlay: 'overlay.csv' };
    const source = { ...common, share: { default: 0.5 }, subId: 'uid', ...page.source };
    writeFileSync(join(cwd, `${name}.json`), JSON.stringify(source));
    const blocks = blocksOf(`docs/feeds/${name}.md`).filter(({ language }) => language === 'bash');
    const script = blocks.map(({ code }) => code).join('\n');
    const { code, stderr } = await runProgram(['bash', '-euo', 'pipefail', '-c', script], {
      cwd,
      env: { ...process.env, ...SECRETS, PATH: `${cwd}:${process.env.PATH}` },
    });
    const reports = [...stderr.matchAll(/^Converted (.*) \(/gm)].map(([, words]) => words);
    expect({ code, reports, stderr: code === 0 ? '' : stderr }).toEqual({
      code: 0,
      reports: [...page.reports],
      stderr: '',
    });
  },
);

const SECRETS = {
  AWIN_TOKEN: 'x',
  IMPACT_SID: 'SID',
  IMPACT_TOKEN: 'x',
  PARTNERIZE_APPLICATION_KEY: 'x',
  PARTNERIZE_API_KEY: 'x',
  CJ_TOKEN: 'x',
  RAKUTEN_CLIENT_ID: 'x',
  RAKUTEN_CLIENT_SECRET: 'x',
};
