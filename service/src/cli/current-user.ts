// Who runs this command, for the books: the user's name and the machine's.

import { hostname, userInfo } from 'node:os';

/** What the runtime says where the environment names no user. */
const NAMELESS = 'unknown';

export function currentUser(): string {
  const { username, uid } = userInfo();
  return `${username === NAMELESS ? `user ${uid}` : username}@${hostname()}`;
}
