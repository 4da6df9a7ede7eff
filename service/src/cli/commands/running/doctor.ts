// offerbook doctor: checks an installation with the same settings as `serve`, and prints how to fix problems.

import { FaultFound } from '@offerbook/wire/failures.ts';
import type { Command } from 'commander';
import { SERVE_FLAGS } from '../../../config.ts';
import { VERSION_TEXT } from '../../../domain/build.ts';
import { systemClock } from '../../../domain/clock.ts';
import { type Check, worstOf } from '../../../health/check.ts';
import { jsonCommand } from '../../command.ts';
import { examine } from '../../doctor/examine.ts';
import { type NodeFlags, readNodeSettings } from '../../node/node-settings.ts';
import { collect } from '../../option-values.ts';
import { printResult, table } from '../../output.ts';

export function doctorCommand(): Command {
  const doctor = jsonCommand(
    'doctor',
    'check the installation (read-only); exits 1 if something is broken',
    'offerbook doctor --port 8080 --admin-port 9090',
  )
    .option('--strict', 'also exit 1 for warnings')
    .option('--deep', 'also read every page of an SQLite database, to find damage')
    .option(
      '--source <file>',
      'also check a source of pull with one request to its network; may be repeated',
      collect,
    )
    .option('--allow-other-host', 'allow a baseUrl that is not on this machine');
  for (const { flag, help } of SERVE_FLAGS) doctor.option(flag, help);
  return doctor.action(runDoctor);
}

interface DoctorOptions extends NodeFlags {
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly deep?: boolean;
  readonly source?: readonly string[];
  readonly allowOtherHost?: boolean;
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  const { settings, databaseUrl } = readNodeSettings(options);
  const checks = await examine({
    settings,
    databaseUrl,
    isDeep: options.deep === true,
    clock: systemClock,
    sources: options.source,
    allowOtherHost: options.allowOtherHost,
  });
  const state = worstOf(checks);
  await printResult(options, { version: VERSION_TEXT, state, checks }, printChecks(checks));
  if (state === 'fault' || (state === 'warning' && options.strict === true)) throw new FaultFound(state);
}

function printChecks(checks: readonly Check[]): string {
  const findings = table(
    checks.map(({ check, state, found }) => ({ CHECK: check, STATE: state, FOUND: found })),
  );
  const advice = checks.flatMap((each) =>
    each.advice === undefined ? [] : [`${each.check}: ${each.advice}`],
  );
  return advice.length === 0
    ? findings
    : `${findings}\n\nWhat to do\n${advice.map((line) => `  ${line}`).join('\n')}`;
}
