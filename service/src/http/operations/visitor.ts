// Classifies requests for links: a person follows the link, a program resolves it for a preview or an index, a browser
// prefetches it, or a page embeds it. Only a person's visit is a click.

import { isbot } from 'isbot';

type Visitor = 'person' | 'crawler' | 'preview' | 'prefetch' | 'embedded';

/** There are few distinct user agents, and a check takes 25 µs. */
const NAMES_CACHED_MAX = 1_000;
const NAME_LENGTH_MAX = 512;

/** Developer tools, and HTTP libraries used by apps. They count as people, although isbot classifies them as bots. */
const TOOLS = /^(?:bun|curl|deno|httpie|node|okhttp|postmanruntime|undici|wget)\b/i;

/** Headless browsers, and HTTP libraries used by crawlers as well as by tests. */
const TEST_CLIENTS =
  /HeadlessChrome|^(?:aiohttp|apache-httpclient|axios|faraday|go-http-client|guzzlehttp|java|node-fetch|python|ruby)\b/i;

/** Apps that fetch a link to show a preview of it, in addition to user agents that contain "preview". */
const PREVIEWS =
  /preview|whatsapp|facebookexternalhit|slackbot|telegrambot|discordbot|twitterbot|linkedinbot|skypeuripreview|viber|embedly/i;

/** Returns the classifying function. `countTestClients` makes headless browsers and HTTP libraries count as people. */
export function visitorReader(countTestClients: 'on' | 'off'): (request: Request) => Visitor {
  const byName = new Map<string, Visitor>();

  function visitorNamed(name: string): Visitor {
    const isCounted = TOOLS.test(name) || (countTestClients === 'on' && TEST_CLIENTS.test(name));
    if (isCounted || !isbot(name)) return 'person';
    return PREVIEWS.test(name) ? 'preview' : 'crawler';
  }

  return ({ method, headers }) => {
    const purpose = headers.get('Sec-Purpose') ?? headers.get('Purpose') ?? headers.get('X-Moz');
    if (purpose?.toLowerCase().includes('prefetch') === true) return 'prefetch';
    const name = (headers.get('User-Agent') ?? '').slice(0, NAME_LENGTH_MAX);
    if (byName.size === NAMES_CACHED_MAX) byName.clear();
    const visitor = byName.getOrInsertComputed(name, visitorNamed);
    if (visitor !== 'person') return visitor;
    if (method === 'HEAD') return 'preview';
    // Pages cannot set this header. `document` means that the whole tab navigates; other values mean an image, a frame or a
    // script. Older browsers and apps do not send it.
    return (headers.get('Sec-Fetch-Dest') ?? 'document') === 'document' ? 'person' : 'embedded';
  };
}
