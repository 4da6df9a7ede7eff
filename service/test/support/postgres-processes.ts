// The processes of a PostgreSQL server, for tests that kill or freeze all of them at once. Linux only.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from './until.ts';

/** The server and its children. Call this while the server runs: orphaned children have another parent. */
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

/** Parent pid: field 4 of /proc/PID/stat. Field 2, the name, may contain spaces but ends at the last bracket. */
function parentOf(pid: number): number | undefined {
  const [state, parent] = statOf(pid);
  return state === undefined ? undefined : Number(parent);
}

function isRunning(pid: number): boolean {
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

/** Throws unless `pid` is above 1: kill(0) would signal this process group, and kill(-1) every process. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  if (!(pid > 1)) throw new Error(`${pid} is not the id of one process`);
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ESRCH') throw error;
  }
}

/** Freezes processes; returns a function that wakes them. */
export function freezeAll(pids: readonly number[]): () => void {
  for (const pid of pids) signalIfThere(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids.toReversed()) signalIfThere(pid, 'SIGCONT');
  };
}

/** Kills processes and waits for their exit. Freezes them first, so that none can react to the death of another. */
export async function killAll(pids: readonly number[]): Promise<void> {
  freezeAll(pids);
  for (const pid of pids) signalIfThere(pid, 'SIGKILL');
  await until(() => !pids.some(isRunning));
}
