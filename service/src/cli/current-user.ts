// The user and the machine that run this command, for the import log and the audit log.

import { hostname, userInfo } from 'node:os';

/** Bun's user name if the environment has none. */
const NAMELESS = 'unknown';

export function currentUser(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    const { username, uid } = userInfo();
    return username === NAMELESS ? `user ${uid}` : username;
  } catch {
    // Bun throws if there is neither HOME nor /etc/passwd, as in some containers.
    return `user ${process.getuid?.() ?? NAMELESS}`;
  }
}
