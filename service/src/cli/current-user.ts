// The user who runs this command, and the machine's name, for the import log and the audit log.

import { hostname, userInfo } from 'node:os';

/** Bun returns this if the user has no name. */
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
