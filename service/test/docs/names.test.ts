// Everything that the documents name exists, and tables that claim to be complete are complete.

import { describe, expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { tableFields } from '@offerbook/feeds/source/table-mapping.ts';
import { newClickTally } from '../../src/activation/click-tally.ts';
import { SERVE_FLAGS } from '../../src/config.ts';
import { ERROR_CODES, ERRORS } from '../../src/domain/api-errors.ts';
import type { PullState } from '../../src/domain/pull.ts';
import { CHECKS } from '../../src/health/checks.ts';
import { metricsPage } from '../../src/http/metrics.ts';
import { requestTally } from '../../src/http/request-tally.ts';
import { offerbook } from '../support/command.ts';
import { blocksOf, DOCUMENTS, FILES, proseOf, readDocument, spansOf, tableOf } from '../support/documents.ts';
import { NODE_STATE } from '../support/node-state.ts';

const manual = (await offerbook(['manual'])).stdout.replaceAll('\\', '');
/** The options of every command by its name, such as `pull status`. */
const commands = new Map<string, readonly string[]>();
for (const section of manual.split(/^\.SS offerbook /m).slice(1)) {
  const [, name = ''] = /^([a-z ]*[a-z])/.exec(section) ?? [];
  commands.set(name, ['--help', ...(section.match(/--[a-z][a-z-]*/g) ?? [])]);
}

/** Names that look like ours, but belong to readers, networks or other programs. */
const FOREIGN = [
  ...['OFFERBOOK_WEBHOOK_SECRET', '--load-extension', 'prometheus.yml'],
  ...['process_date_start', 'process_date_end', 'OfferbookError'],
];

/** The calls of our command in a shell script, each with its arguments. */
function callsIn(script: string): string[] {
  const parts = script.replaceAll('\\\n', ' ').split(/[\n|;]|&&|\$\(/);
  return parts.flatMap((part) => /^\s*(?:[A-Z_]+=\S* )*offerbook ([a-z][^#>]*)/.exec(part)?.[1] ?? []);
}

/** The command or the options of a call that do not exist. */
function unknownIn(call: string): string[] {
  const [first = '', second = ''] = call.trim().split(/\s+/);
  const name = commands.has(`${first} ${second}`) ? `${first} ${second}` : first;
  const options = call.match(/(?<=^| )--[a-z][a-z-]*/g) ?? [];
  const known = commands.get(name);
  if (known === undefined) return [call];
  return options.filter((option) => !known.includes(option)).map((option) => `${name} ${option}`);
}

/** True if a tracked file or folder has this path; documents omit the first folders of long ones. */
function isInRepository(path: string): boolean {
  const pattern = new Bun.Glob(`{**/,}${path.replace(/\/$/, '')}{,/**}`);
  return FILES.some((file) => pattern.match(file));
}

/** The anchors of a document's headings. */
function anchorsOf(document: string): string[] {
  const headings = [...proseOf(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readDocument(document);
  const spans = spansOf(document);
  const named = (pattern: RegExp) => (text.match(pattern) ?? []).filter((name) => !FOREIGN.includes(name));

  test('every link in the document points to an existing file and heading', () => {
    const links = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)/g)];
    const broken = links.filter(([, file = '', anchor = '']) => {
      const target = file === '' ? document : join(dirname(document), file);
      return !isInRepository(target) || (anchor !== '' && !anchorsOf(target).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('every command and option that the document names exists', () => {
    const scripts = blocksOf(document).map(({ code }) => code);
    const indented = text.match(/^ {4,}.*$/gm) ?? [];
    expect([...scripts, ...indented, ...spans].flatMap(callsIn).flatMap(unknownIn)).toEqual([]);
    const known = [...commands.values()].flat();
    const options = spans.flatMap((span) => /^--[a-z-]+/.exec(span)?.[0] ?? []);
    expect(options.filter((option) => !known.includes(option) && !FOREIGN.includes(option))).toEqual([]);
  });

  test('every variable, metric, alert and npm script that the document names exists', () => {
    const settings = manual + readDocument('service/src/config.ts');
    const metrics = readDocument('service/src/http/metrics.ts');
    const alerts = readDocument('deploy/prometheus/alerts.yml');
    expect(named(/\bOFFERBOOK_[A-Z_]+/g).filter((name) => !settings.includes(name))).toEqual([]);
    expect(named(/\b(offerbook|process)_[a-z_]+/g).filter((name) => !metrics.includes(`${name}:`))).toEqual(
      [],
    );
    expect(named(/(?<=`)Offerbook[A-Z]\w+/g).filter((name) => !alerts.includes(`alert: ${name}\n`))).toEqual(
      [],
    );
    const runs = [...text.matchAll(/npm run ([\w:]*\w)(?: --workspace @offerbook\/(\w+))?/g)];
    const missing = runs.filter(([, script = '', workspace = '']) => {
      const { scripts } = JSON.parse(readDocument(join(workspace, 'package.json')));
      return scripts[script] === undefined;
    });
    expect(missing.map(([run]) => run)).toEqual([]);
  });

  test('every file and folder of the repository that the document names exists', () => {
    const paths = spans.filter((span) =>
      /^\w[\w.*/-]*\.(ts|js|json|ya?ml|html|css|service)$|^[\w-]+(\/[\w.*-]+)+\/?$/.test(span),
    );
    const missing = paths.filter((path) => !FOREIGN.includes(path) && !/^(dist|node_modules)\//.test(path));
    expect(missing.filter((path) => !isInRepository(path))).toEqual([]);
  });
});

test('docs/operations/serving.md lists every setting with its default', () => {
  const rows = tableOf('docs/operations/serving.md', 'setting');
  const listed = rows.map(([flag = '', value]) => `${flag.replaceAll('`', '')} ${value}`);
  const settings = SERVE_FLAGS.map(({ flag, help }) => {
    const [, value = 'none'] = /\(default: (.*), env: \w+\)$/.exec(help) ?? [];
    return `${flag.split(' ')[0]} ${value}`;
  });
  // Its default depends on the database.
  const isFixed = (setting: string) => !setting.startsWith('--spool ');
  expect(listed.filter(isFixed).sort()).toEqual(settings.filter(isFixed).sort());
});

test('docs/operations/doctor.md lists every health check', () => {
  const rows = tableOf('docs/operations/doctor.md', 'check').map(([check = '']) => check);
  const listed = rows.join(', ').replaceAll(/ [●(:].*?(?=,|$)/g, '');
  expect(Object.keys(CHECKS).filter((check) => !listed.includes(check.replace(/^import of /, '')))).toEqual(
    [],
  );
});

test('docs/feeds/table.md lists every field that a mapping can have', () => {
  const rows = tableOf('docs/feeds/table.md', 'kind');
  const listed = rows.map(([kind = '', fields = '']) => [
    kind.replaceAll('`', ''),
    [...(fields.match(/\w+(?=`)/g) ?? [])].sort(),
  ]);
  const known = Object.entries(tableFields).map(([kind, mapping]) => [
    kind,
    Object.keys(mapping.unwrap().shape.fields.shape).sort(),
  ]);
  expect(listed).toEqual(known);
});

test('docs/errors.md lists every error code with its status and title', () => {
  const listed = tableOf('docs/errors.md', 'status').map(
    ([status, code, title]) => `${status} ${code} ${title}`,
  );
  const errors = ERROR_CODES.map((code) => `${ERRORS[code].status} \`${code}\` ${ERRORS[code].title}`);
  expect(listed.sort()).toEqual(errors.sort());
});

test('docs/operations/monitoring.md lists exactly the exported metrics, with types and labels', async () => {
  const tally = requestTally(() => 1);
  tally.answered('/v1/coupons/', 200, 1);
  const caller = { orgId: 1, orgName: 'acme' };
  tally.polled(caller, undefined);
  tally.failed('not_found', 'unknown', caller, 'request');
  const page = await metricsPage({
    ...NODE_STATE,
    requests: tally.tallies,
    checks: [{ check: 'disk', state: 'ok', found: '' }],
    database: {
      imports: {
        counts: [{ kind: 'links', outcome: 'done', count: 1 }],
        feeds: [
          {
            kind: 'links',
            orgName: 'acme',
            source: 'awin',
            lastSuccessMs: 1,
            lastOutcome: 'done',
            lastEndedMs: 1,
          },
        ],
      },
      tokensExpiring: 0,
      webhooks: { counts: { 'up to date': 1, behind: 0, failing: 0, paused: 0 }, failingMs: 0, behindMs: 0 },
      pulls: [
        {
          ...{ source: 'awin:1', stream: 'validation', orgName: 'acme', completeThroughMs: 1, everyMs: null },
          ...{ lastSuccessMs: 1, attemptMs: 1, tryingSinceMs: null, error: null, failedAtMs: null },
          counts: { added: 1, changed: 0, unchanged: 0, invalid: 0, withdrawn: 0 },
        } as PullState,
      ],
      pullRequests: [
        { source: 'awin:1', counts: { ok: 1, 'too many': 0, failed: 0, refused: 0 }, budget: null },
      ],
    },
    sender: { isSending: true, delivered: 1, failed: 0 },
    replica: { isUsable: true, lagMs: 0 },
    cluster: { rivals: [], timeline: 2, isUnsettled: false, restamped: 0 },
    pools: { pages: { inUse: 0, waiting: 0, max: 7 }, other: { inUse: 0, waiting: 0, max: 2 } },
    clicks: { tally: newClickTally(), fate: 'recorded', isDiskLow: false, spooledCount: 0 },
    spans: { sent: 1, dropped: 0 },
  }).text();
  const printed = [...page.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => {
    const [, labels = ''] = new RegExp(`^${name}(?:_count)?{(.*)} `, 'm').exec(page) ?? [];
    return [name, type, [...labels.matchAll(/(\w+)="/g)].map(([, label]) => `\`${label}\``).join(', ')];
  });
  const listed = tableOf('docs/operations/monitoring.md', 'metric').map(
    ([name = '', type = '', labels = '']) => [name.replaceAll('`', ''), type, labels],
  );
  expect(listed.sort()).toEqual(printed.sort());
});

test.each([
  ['docs/decisions.md', 40],
  ['docs/security.md', 15],
])('every row of %s links to an existing test', (document, rowsMin) => {
  const rows = readDocument(document).match(/(?<=^\|[-| ]+\|\n(\|.*\n)*)\|.*/gm) ?? [];
  expect(rows.length).toBeGreaterThan(rowsMin);
  expect(rows.filter((row) => !/\]\(\.\.\/[\w./-]+\.test\.ts\) \|$/.test(row))).toEqual([]);
});
