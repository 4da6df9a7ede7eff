// The processes of a PostgreSQL server, for tests that kill or freeze all of them at once. Linux only.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The server and its children. They are listed while their parent lives: afterwards nobody knows whose they were. */
export function postgresProcesses(directory: string): number[] {
  const pid = Number(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
  return [pid, ...childrenOf(pid)];
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid);
}

/** The fourth field of /proc/PID/stat; the second, the name, may hold spaces but ends with the last bracket. */
function parentOf(pid: number): number | undefined {
  const [state, parent] = statOf(pid);
  return state === undefined ? undefined : Number(parent);
}

export function isRunning(pid: number): boolean {
  const [state] = statOf(pid);
  return state !== undefined && state !== 'Z';
}

function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** To the system, 0 means this group of processes and -1 all there are: a number that could not be read must not stop them. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 1)) throw new Error(`${pid} is not the id of one process`);
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ESRCH') throw error;
  }
}
