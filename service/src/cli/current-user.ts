// Who runs this command, for the books: the user's name and the machine's.

import { hostname, userInfo } from 'node:os';

/** What the runtime says where the environment names no user. */
const NAMELESS = 'unknown';

export function currentUser(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    const { username, uid } = userInfo();
    return username === NAMELESS ? `user ${uid}` : username;
  } catch {
    // A container may have neither the variable HOME nor /etc/passwd, and the runtime gives up without both.
    return `user ${process.getuid?.() ?? NAMELESS}`;
  }
}
