// npm run audit: asks the registry for known vulnerabilities of what the service runs on. Fails for a high or a
// critical one. A registry that does not answer, or has no such service, is told and is no failure: whether a
// build passes must not depend on somebody else's server.

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

async function runAudit(registry: string | undefined): Promise<AuditReport> {
  const from = registry === undefined ? [] : [`--registry=${registry}`];
  const audit = Bun.spawn(['npm', 'audit', '--omit=dev', '--json', '--fetch-retries=0', ...from], {
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: TIMEOUT_MS,
  });
  const text = await new Response(audit.stdout).text();
  try {
    return JSON.parse(text) as AuditReport;
  } catch {
    return { message: 'npm audit gave no report' };
  }
}

const { values } = parseArgs({ options: { registry: { type: 'string' } } });
const report = await runAudit(values.registry);
if (report.metadata === undefined) {
  const why = report.message ?? report.error?.summary ?? 'no answer';
  print(`Not audited: the registry did not give a report (${why}).`);
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
