// Sends a request to the API and renders the response: status, time, headers, body. Used with public tokens only.

import { codeParts } from '../code-parts.ts';
import { copyButton } from './copy-button.ts';
import { codeBlock, element } from './element.ts';

/** Longer bodies are truncated: rendering a huge response would block the page. */
const BODY_SHOWN_MAX = 40_000;

export async function requestApi(url: string, token: string, method = 'GET') {
  const startedAtMs = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      credentials: 'omit',
    });
    const text = await response.text();
    return showResponse(url, response, text, performance.now() - startedAtMs);
  } catch {
    const nodes = [element('p', 'No response. Check that the service is running.')];
    return { nodes, body: undefined };
  }
}

function showResponse(url: string, response: Response, text: string, tookMs: number) {
  const body = parse(text);
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  return {
    body,
    nodes: [
      element(
        'p',
        element(`strong.${response.ok ? 'good' : 'bad'}`, String(response.status)),
        ` in ${Math.round(tookMs)} ms · `,
        element('code', url),
      ),
      element('details', element('summary', 'Headers'), codeBlock(headers)),
      codeSample(
        'Copy the response',
        ...(body === undefined
          ? [truncated(text)]
          : colouredNodes(truncated(JSON.stringify(body, null, 2)), 'json')),
      ),
    ],
  };
}

export function colouredNodes(code: string, language: string): (string | Node)[] {
  return codeParts(code, language).map(({ kind, text }) =>
    kind === undefined ? text : element(`span.code-${kind}`, text),
  );
}

/** A block of code with a copy button. */
export function codeSample(description: string, ...content: readonly (string | Node)[]): HTMLElement {
  const code = codeBlock(...content);
  return element('div.sample', code, copyButton(description, code));
}

function truncated(text: string): string {
  const hidden = text.length - BODY_SHOWN_MAX;
  return hidden > 0 ? `${text.slice(0, BODY_SHOWN_MAX)}\n… ${hidden} more characters` : text;
}

/** Returns undefined for text that is not JSON. */
function parse(text: string): { cursor?: string; data?: readonly { id: string }[] } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
