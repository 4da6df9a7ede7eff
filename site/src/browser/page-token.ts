// This tab's access token. The sandbox embeds it in the page; elsewhere, the reader enters it, and it is stored until the tab
// is closed. Private tokens are rejected before they are stored or sent.

import { SETTINGS } from './page-settings.ts';

const KEY = 'offerbook.token';

let current = SETTINGS.token ?? sessionStorage.getItem(KEY) ?? undefined;

export function findToken(): string | undefined {
  return current;
}

export function storeToken(token: string): void {
  sessionStorage.setItem(KEY, token);
  current = token;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  current = undefined;
}

/** Describes what is wrong with a token's format; undefined if the format is valid. */
export function tokenProblem(text: string): string | undefined {
  if (text === '') return 'Enter a public token.';
  if (text.startsWith('ob_prv_')) {
    return 'This is a private token, for servers only. It was neither stored nor sent. Use a public token, which starts with ob_pub_.';
  }
  return /^ob_pub_[0-9A-Za-z]+$/.test(text)
    ? undefined
    : 'A public token is ob_pub_ followed by letters and digits. Check that you copied all of it.';
}
