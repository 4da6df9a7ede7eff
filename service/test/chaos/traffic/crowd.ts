// Starts a crowd of hostile clients in another process.

import { join } from 'node:path';

export interface Crowd {
  /** Connections that are held for as long as possible. In addition, a twentieth of this number of clients keep reconnecting. */
  readonly held?: number;
  /** Connections that pipeline requests, and the requests that each sends before it reconnects; 0 for requests without end. */
  readonly floods?: number;
  readonly burst?: number;
  readonly seed?: number;
}

export interface CrowdCounts {
  opened: number;
  /** Connections that the server closed. */
  cutOff: number;
  receivedBytes: number;
}

/** Returns when the held connections are open and the floods have received many responses. */
export async function startCrowd(url: string, token: string, crowd: Crowd) {
  const program = join(import.meta.dir, 'crowd-process.ts');
  const child = Bun.spawn([process.execPath, program, url, JSON.stringify(crowd)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${token}\n`);
  await child.stdin.flush();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  return {
    async stop(): Promise<CrowdCounts> {
      await child.stdin.end();
      const { value } = await lines.read();
      await child.exited;
      return JSON.parse(value ?? '{}') as CrowdCounts;
    },
  };
}
