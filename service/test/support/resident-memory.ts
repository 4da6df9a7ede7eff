// Memory use of another process, as reported by the system.

import { existsSync, readFileSync } from 'node:fs';

/** Resident memory without mapped files, which the system can reclaim; 0 if the system does not report it. */
export function residentMb(pid: number): number {
  const file = `/proc/${pid}/status`;
  const [, kilobytes = '0'] = existsSync(file)
    ? (/RssAnon:\s+(\d+)/.exec(readFileSync(file, 'utf8')) ?? [])
    : [];
  return Math.round(Number(kilobytes) / 1024);
}
