// Describes the machine of a run. Absolute figures are valid only on that machine; ratios are comparable.

import { arch, cpus, release, totalmem, type } from 'node:os';

export function describeMachine(): string {
  const [cpu] = cpus();
  return (
    `${cpus().length} cores of ${cpu?.model ?? 'an unknown processor'} (${arch()}), ` +
    `${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}, Bun ${Bun.version}.`
  );
}
