// Sends a request to the API as any client would, and shows the answer: status, time, headers, body. Only public tokens
// get here.

import { element } from './element.ts';
import { colouredJson } from './json-colours.ts';

/** A body beyond this is cut off: a page with a million lines helps nobody. */
const BODY_SHOWN_MAX = 40_000;

export interface ApiAnswer {
  readonly nodes: readonly HTMLElement[];
  /** Of the next page, if there is one. */
  readonly cursor: string | undefined;
}

export async function askApi(url: string, token: string): Promise<ApiAnswer> {
  const startedAtMs = performance.now();
  try {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' });
    const text = await response.text();
    return showAnswer(url, response, text, performance.now() - startedAtMs);
  } catch {
    return { nodes: [element('p', {}, 'No answer. Is the service running?')], cursor: undefined };
  }
}

function showAnswer(url: string, response: Response, text: string, tookMs: number): ApiAnswer {
  const { status, headers } = response;
  const body = parse(text);
  const shownHeaders = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return {
    cursor: (body as { cursor?: string } | undefined)?.cursor,
    nodes: [
      element(
        'p',
        {},
        element('strong', { class: response.ok ? 'good' : 'bad' }, String(status)),
        ` in ${Math.round(tookMs)} ms · `,
        element('code', {}, url),
      ),
      element('details', {}, element('summary', {}, 'Headers'), pre(shownHeaders)),
      body === undefined ? pre(text) : pre(JSON.stringify(body, null, 2), colouredJson),
    ],
  };
}

function pre(text: string, draw = (shown: string): (string | Node)[] => [shown]): HTMLElement {
  const shown =
    text.length > BODY_SHOWN_MAX
      ? `${text.slice(0, BODY_SHOWN_MAX)}\n… ${text.length - BODY_SHOWN_MAX} more characters`
      : text;
  return element('pre', { tabindex: 0 }, element('code', {}, ...draw(shown)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
