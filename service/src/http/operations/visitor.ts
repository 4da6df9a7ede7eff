// Classifies requests for links: a person follows the link, a program resolves it for a preview or an index, a browser
// prefetches it, or a page embeds it. Only a person's visit is a click.

import { isbot } from 'isbot';

type Visitor = 'person' | 'bot' | 'prefetch' | 'embedded';

/** Cached by user agent: a check takes 25 µs, and there are few distinct user agents. */
const botByName = new Map<string, boolean>();
const NAMES_KEPT_MAX = 1_000;
const NAME_LENGTH_MAX = 512;

/**
 * Developer tools, and HTTP libraries used by apps. isbot classifies them as bots, but they should get the same response as
 * a person.
 */
const TOOLS = /^(?:bun|curl|deno|httpie|node|okhttp|postmanruntime|undici|wget)\b/i;

export function visitorOf({ method, headers }: Request): Visitor {
  const purpose = headers.get('Sec-Purpose') ?? headers.get('Purpose') ?? headers.get('X-Moz');
  if (purpose?.toLowerCase().includes('prefetch') === true) return 'prefetch';
  if (method === 'HEAD' || isBot(headers.get('User-Agent') ?? '')) return 'bot';
  // Pages cannot set this header. `document` means that the whole tab navigates; other values mean an image, a frame or a
  // script. Older browsers and apps do not send it.
  return (headers.get('Sec-Fetch-Dest') ?? 'document') === 'document' ? 'person' : 'embedded';
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
