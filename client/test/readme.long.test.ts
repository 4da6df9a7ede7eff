// Runs each example in the client's README against a real service and checks its output.

import { afterAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { id } from '../../service/test/support/fixtures.ts';
import { run } from './support/installed-package.ts';
import { readmeExamples } from './support/readme-examples.ts';
import { startProject } from './support/served-project.ts';

const project = await startProject();

afterAll(() => project[Symbol.asyncDispose]());

describe("the README's examples", () => {
  const printed: Record<string, string> = {
    Lists: `Retailer 1: 5%\nRetailer 2: 14.5%\nRetailer 3: €7.50\n2 true\n[ "CODE21", "CODE22", "CODE23" ]\n3 true\n`,
    'Look-ups': 'Retailer 1\nwww.greenthumb.example 1\ndeal_not_found 404\n',
    Errors: `invalid_parameter 400 [\n  {\n    parameter: "country",\n    detail: "must be a two-letter country code (ISO 3166-1 alpha-2)",\n  }\n]\n`,
    Activation: '/v1/coupons/0192d1a0-0000-7000-8000-000000000021/activate/\n',
    "One user's transactions": 'unknown shop 3.99 EUR PENDING\n',
    'Timeouts, retries and aborting': '3\n',
    Dates: '2026-11-14T12:00:00.000Z\n'.repeat(4),
  };

  test.each(Object.entries(printed))('%s: the example prints the expected output', async (title, output) => {
    const source = readmeExamples().find((example) => example.title === title)?.source ?? '';
    const { stdout } = await run(
      [process.execPath, project.write('example.ts', project.forReal(source))],
      project.installed.folder,
    );
    expect(stdout).toBe(output);
  });

  test('Following transactions: the example prints changes, saves its position and stops on SIGTERM', async () => {
    const source = readmeExamples().find(({ title }) => title === 'Following transactions')?.source ?? '';
    const name = project.write('example-follow.ts', project.forReal(source));
    const child = Bun.spawn([process.execPath, name], {
      cwd: project.installed.folder,
      stdout: 'pipe',
      stderr: 'inherit',
    });
    let output = '';
    for await (const chunk of child.stdout) {
      output += new TextDecoder().decode(chunk);
      if (output.includes(id(2))) child.kill('SIGTERM');
    }
    expect(output).toBe(`${id(1)} PENDING 3.99\n${id(2)} PENDING 3.99\nstopped\n`);
    expect(readFileSync(join(project.installed.folder, 'checkpoint.txt'), 'utf8')).toMatch(/^2\d{3}-/);
  });

  test('Webhooks: the example stores signed changes unless they are older, and rejects others', async () => {
    const source = readmeExamples().find(({ title }) => title === 'Webhooks')?.source ?? '';
    const { folder } = project.installed;
    const secret = `whsec_${btoa('a webhook secret of 32 bytes ...')}`;
    const statuses = ['CONFIRMED', 'PENDING'].map((status, index) => {
      const transactions = [{ id: id(1), status, updatedAt: `2026-11-14T12:00:0${1 - index}` }];
      return JSON.stringify({ type: 'transactions.changed', data: { transactions } });
    });
    const sentAt = new Date();
    const requests = statuses.map((body) => ({
      body,
      headers: {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign('msg_1', sentAt, body),
      },
    }));
    const program = `${source}
      const post = (init) => POST(new Request('http://shop.example/', { method: 'POST', ...init }));
      for (const init of [...${JSON.stringify(requests)}, { body: '{}' }]) console.log((await post(init)).status);
      console.log([...copy.values()].map(({ status }) => status).join());`;
    const name = project.write('example-webhooks.ts', program);
    const { stdout } = await run([process.execPath, name], folder, { OFFERBOOK_WEBHOOK_SECRET: secret });
    expect(stdout).toBe('204\n204\n400\nCONFIRMED\n');
  });

  test('every example of the README is run', () => {
    const titles = readmeExamples().map(({ title }) => title);
    expect(titles.sort()).toEqual([...Object.keys(printed), 'Following transactions', 'Webhooks'].sort());
  });
});
