// Memory use of another process, as reported by the system: 0 if it does not report it, or if the process has ended.

import { readFileSync } from 'node:fs';

/** Resident memory without mapped files, which the system can reclaim. */
export function residentMb(pid: number): number {
  return readMb(pid, /RssAnon:\s+(\d+)/);
}

/** Greatest resident memory so far. */
export function peakMb(pid: number): number {
  return readMb(pid, /VmHWM:\s+(\d+)/);
}

function readMb(pid: number, line: RegExp): number {
  try {
    return Math.round(Number(line.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
