// Classifies a request for a link: a person who follows it, a program that only resolves it (for a preview or an index), a
// browser that prefetches it, or a page that embeds it. Only a person's visit is a click.

import { isbot } from 'isbot';

type Visitor = 'person' | 'bot' | 'prefetch' | 'embedded';

/** Results by user agent: a check takes 25 µs, and there are few user agents. */
const botByName = new Map<string, boolean>();
const NAMES_KEPT_MAX = 1_000;
const NAME_LENGTH_MAX = 512;

/** Tools that developers test links with, and HTTP libraries of apps. isbot classifies them as bots, but they should get the same
 * response as a user. */
const TOOLS = /^(?:bun|curl|deno|httpie|node|okhttp|postmanruntime|undici|wget)\b/i;

export function visitorOf({ method, headers }: Request): Visitor {
  const purpose = headers.get('Sec-Purpose') ?? headers.get('Purpose') ?? headers.get('X-Moz');
  if (purpose?.toLowerCase().includes('prefetch') === true) return 'prefetch';
  if (method === 'HEAD' || isBot(headers.get('User-Agent') ?? '')) return 'bot';
  // Browsers set this header and pages cannot: `document` is a navigation of the whole tab, anything else an image, a frame
  // or a script of some page. Older browsers and apps do not send it.
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
