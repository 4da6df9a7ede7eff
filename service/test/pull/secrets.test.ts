// Secrets occur in no byte that pulls write, log, trace, count or show, even if a network repeats them.

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNTS, exampleSource, NETWORKS, secretVariables } from '@offerbook/sandbox/networks/accounts.ts';
import fc from 'fast-check';
import { checkSource } from '../../src/pull/check-source.ts';
import { ConsoleNode } from '../console/open-console.ts';
import { offerbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { attributesOf, type SentSpan, SpanCollector } from '../support/span-collector.ts';
import { DATABASE, PullTest } from './fixture.ts';
import { recentDay, ServedNetworks } from './served-networks.ts';

const ENVIRONMENT = Object.fromEntries(
  NETWORKS.flatMap((network) => secretVariables(network).map(({ variable, value }) => [variable, value])),
);
/** The secrets, the access tokens of the fake, and what is sent in headers. */
const SECRETS: readonly string[] = [
  ...Object.values(ENVIRONMENT),
  'sandbox-rakuten-access',
  ...[
    `${ACCOUNTS.impact.account}:${ACCOUNTS.impact.credentials.token}`,
    Object.values(ACCOUNTS.partnerize.credentials).join(':'),
    Object.values(ACCOUNTS.rakuten.credentials).join(':'),
  ].map(btoa),
];

function occurrences(outputs: Readonly<Record<string, string>>): string[] {
  return Object.entries(outputs).flatMap(([name, bytes]) =>
    SECRETS.filter((secret) => bytes.includes(secret)).map((secret) => `${secret} in ${name}`),
  );
}

test('no secret occurs in output, files, spans, metrics or the console', async () => {
  await using networks = new ServedNetworks();
  // Repeats the credentials in every way that a network could.
  using echo = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', development: false },
    fetch: async (request) => {
      const sent = request.headers.get('Authorization') ?? '';
      const plain = sent.startsWith('Basic ') ? atob(sent.slice(6)) : '';
      const message = `${'x'.repeat(190)} ${sent} ${plain} ${await request.text()}`;
      return Response.json({ message, errors: [{ message }] }, { status: 401, headers: { Location: sent } });
    },
  });
  await using collector = SpanCollector.start();
  const folder = temporaryFolder();
  const outputs: Record<string, string> = {};
  const env = { ...ENVIRONMENT, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const run = async (args: string) => {
    const { code, stdout, stderr } = await offerbook(args.split(' '), { cwd: folder, env });
    outputs[args] = stdout + stderr;
    return code;
  };
  const files = (baseUrl: string, name: string) =>
    NETWORKS.map((network) => {
      const file = `${network}-${name}.json`;
      writeFileSync(join(folder, file), JSON.stringify(exampleSource(network, baseUrl)));
      return `--source ${file}`;
    }).join(' ');
  const honest = files(networks.url, 'honest');
  const echoing = files(`http://127.0.0.1:${echo.port}`, 'echo');
  expect(await run('orgs create acme')).toBe(0);
  expect(await run(`pull transactions ${honest} --org acme --since ${recentDay()}`)).toBe(0);
  expect(await run('pull catalogue --source impact-honest.json --source rakuten-honest.json')).toBe(0);
  expect(await run(`pull transactions ${echoing} --org acme --json`)).toBe(3);
  expect(await run('pull catalogue --source cj-echo.json --source rakuten-echo.json')).toBe(3);
  expect(await run(`doctor --port 0 ${echoing} ${honest}`)).toBe(1);
  expect(await run('pull status')).toBe(0);
  for (const name of readdirSync(folder)) outputs[name] = readFileSync(join(folder, name), 'latin1');
  expect(Object.keys(outputs)).toContain('offerbook.db');
  outputs.spans = JSON.stringify(collector.batches);
  const [honestRun, echoRun] = collector.spans.filter(({ name }) => name === 'pull awin');
  const requestsOf = (run: SentSpan | undefined) =>
    collector.spans.filter(({ parentSpanId }) => parentSpanId === run?.spanId).map(attributesOf);
  const request = { 'http.request.method': 'GET', 'server.address': '127.0.0.1' };
  expect(requestsOf(honestRun)).toEqual(Array(3).fill({ ...request, 'http.response.status_code': 200 }));
  expect(requestsOf(echoRun)).toEqual([
    { ...request, 'http.response.status_code': 401, 'error.type': 'refused' },
  ]);

  await using console_ = await ConsoleNode.start({ databaseUrl: `sqlite:${join(folder, 'offerbook.db')}` });
  for (const path of ['/metrics', '/pulls', '/imports', '/']) {
    outputs[`console ${path}`] = await (await console_.get(path)).text();
  }
  outputs.log = console_.node.logLines.join('\n');
  expect(outputs['console /pulls']).toContain('status 401');
  expect(occurrences(outputs)).toEqual([]);
});

test('errors never contain a secret, even if the network returns it in a different encoding', async () => {
  await using t = await PullTest.open('partnerize', DATABASE);
  const secret = fc.string({
    minLength: 6,
    maxLength: 60,
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((n) => String.fromCharCode(n)),
  });
  const spelling = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => encodeURIComponent(text),
    (text) => JSON.stringify(text),
  );
  await fc.assert(
    fc.asyncProperty(secret, secret, spelling, fc.nat(250), async (applicationKey, apiKey, spell, offset) => {
      const header = btoa(`${applicationKey}:${apiKey}`);
      const message = `${' '.repeat(offset)}${[applicationKey, apiKey, header].map(spell).join(' ')}`;
      t.network.planned.splice(0, 99, () => Response.json({ message }, { status: 400 }));
      const source = { ...t.pullable(), secrets: { applicationKey, apiKey } };
      const error = await checkSource(source, t.context).then(() => '', String);
      expect(error).toContain('status 400');
      for (const value of [applicationKey, apiKey, header]) {
        expect(error).not.toContain(value);
        // No long beginning of it either.
        expect(error).not.toContain(value.slice(0, Math.max(6, value.length - 1)));
      }
    }),
    { numRuns: 40 },
  );
});
