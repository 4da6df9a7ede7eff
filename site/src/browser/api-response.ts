// Sends a request to the API and renders the response: status, time, headers, body. Used with public tokens only.

import { element } from './element.ts';
import { colouredJson } from './json-colours.ts';

/** Longer bodies are truncated: rendering a huge response would block the page. */
const BODY_SHOWN_MAX = 40_000;

export interface ShownResponse {
  readonly nodes: readonly HTMLElement[];
  /** Cursor of the next page, if there is one. */
  readonly cursor: string | undefined;
}

export async function requestApi(url: string, token: string): Promise<ShownResponse> {
  const startedAtMs = performance.now();
  try {
    const response = await fetch(url, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' });
    const text = await response.text();
    return showResponse(url, response, text, performance.now() - startedAtMs);
  } catch {
    return {
      nodes: [element('p', {}, 'No response. Check that the service is running.')],
      cursor: undefined,
    };
  }
}

function showResponse(url: string, response: Response, text: string, tookMs: number): ShownResponse {
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
