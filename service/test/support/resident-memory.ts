// Memory of another process, as the system counts it.

import { existsSync, readFileSync } from 'node:fs';

/** Resident, without mapped files, which the system can take back. Where that cannot be seen, 0. */
export function residentMb(pid: number): number {
  const file = `/proc/${pid}/status`;
  const [, kilobytes = '0'] = existsSync(file)
    ? (/RssAnon:\s+(\d+)/.exec(readFileSync(file, 'utf8')) ?? [])
    : [];
  return Math.round(Number(kilobytes) / 1024);
}
