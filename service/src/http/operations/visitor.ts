// Who follows a link: a person, a program that only looks where it leads (for a preview, or for an index), or a browser
// that fetches it in case it will be followed. Only a person's visit is a click.

import { isbot } from 'isbot';

type Visitor = 'person' | 'bot' | 'prefetch';

/** To look at a browser's name takes 25 µs, and there are few. */
const botByName = new Map<string, boolean>();
const NAMES_KEPT_MAX = 1_000;
const NAME_LENGTH_MAX = 512;

/**
 * Programs by which people try out links, and apps follow them. They are bots to the library, but whoever tries a link
 * should see what a user would.
 */
const TOOLS = /^(?:bun|curl|deno|httpie|node|okhttp|postmanruntime|undici|wget)\b/i;

export function visitorOf({ method, headers }: Request): Visitor {
  const purpose = headers.get('Sec-Purpose') ?? headers.get('Purpose') ?? headers.get('X-Moz');
  if (purpose?.toLowerCase().includes('prefetch') === true) return 'prefetch';
  return method === 'HEAD' || isBot(headers.get('User-Agent') ?? '') ? 'bot' : 'person';
}

function isBot(name: string): boolean {
  const text = name.slice(0, NAME_LENGTH_MAX);
  const known = botByName.get(text);
  if (known !== undefined) return known;
  const found = !TOOLS.test(text) && isbot(text);
  if (botByName.size === NAMES_KEPT_MAX) botByName.clear();
  botByName.set(text, found);
  return found;
}
