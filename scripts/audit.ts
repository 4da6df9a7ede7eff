// npm run audit: checks the runtime dependencies for known vulnerabilities. Exits 1 if any is rated high or critical. If
// the registry is unreachable or has no audit API, it prints that and exits 0: a build must not depend on the registry.

import { parseArgs } from 'node:util';

interface AuditReport {
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> };
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly range: string }>>;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
}

const SEVERE = ['high', 'critical'];
const TIMEOUT_MS = 60_000;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const { values } = parseArgs({ options: { registry: { type: 'string' } } });
const from = values.registry === undefined ? [] : [`--registry=${values.registry}`];
const audit = Bun.spawn(['npm', 'audit', '--omit=dev', '--json', '--fetch-retries=0', ...from], {
  ...{ stdout: 'pipe', stderr: 'ignore', timeout: TIMEOUT_MS },
});
const report = (await new Response(audit.stdout)
  .json()
  .catch(() => ({ message: 'npm audit printed no report' }))) as AuditReport;
if (report.metadata === undefined) {
  const why = report.message ?? report.error?.summary ?? 'no response';
  print(`Not audited: the registry returned no report (${why}).`);
} else {
  const severe = Object.entries(report.vulnerabilities ?? {}).filter(([, { severity }]) =>
    SEVERE.includes(severity),
  );
  for (const [name, { severity, range }] of severe) print(`${severity}: ${name} ${range}`);
  const counts = Object.entries(report.metadata.vulnerabilities).map(
    ([severity, count]) => `${count} ${severity}`,
  );
  print(`Audited: ${counts.join(', ')}.`);
  process.exitCode = severe.length > 0 ? 1 : 0;
}
