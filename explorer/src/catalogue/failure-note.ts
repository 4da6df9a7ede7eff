// What went wrong, for the reader: what it means, what happens next, and a way to try again. Waits by itself
// as long as the service asks, and goes on when the network is back.

import { ApiError, MalformedResponseError, NetworkError, TimeoutError } from '@offerbook/client';
import { button, element } from '../element.ts';

interface Explanation {
  readonly title: string;
  readonly text: string;
  /** When to try again without being asked; undefined for never. */
  readonly retryAfterMs?: number | undefined;
}

const SECOND_MS = 1_000;
const RETRY_DEFAULT_MS = 5_000;

export function explain(error: unknown): Explanation {
  if (error instanceof ApiError && error.status === 429) {
    return {
      title: 'Too many requests',
      text: 'The service asked this page to slow down.',
      retryAfterMs: error.retryAfterMs ?? RETRY_DEFAULT_MS,
    };
  }
  if (error instanceof ApiError && error.status === 503) {
    return {
      title: 'The service is temporarily unavailable',
      text: 'It is starting, stopping or without its database. This usually passes quickly.',
      retryAfterMs: error.retryAfterMs ?? RETRY_DEFAULT_MS,
    };
  }
  if (error instanceof NetworkError || error instanceof TimeoutError) {
    return {
      title: navigator.onLine ? 'No answer from the service' : 'You are offline',
      text: navigator.onLine
        ? 'It may have been stopped, or the connection is down.'
        : 'This page goes on by itself when the connection is back.',
      retryAfterMs: RETRY_DEFAULT_MS,
    };
  }
  if (error instanceof MalformedResponseError) {
    return {
      title: 'Something else answered',
      text: 'The answer is not one of Offerbook. A proxy in between may be at fault.',
    };
  }
  return { title: 'Something went wrong', text: 'Try again; if it happens again, tell the operator.' };
}

export function failureNote(error: unknown, retry: () => void): HTMLElement {
  const { title, text, retryAfterMs } = explain(error);
  const waiting = element('p', { class: 'muted' });
  const node = element(
    'div',
    { class: 'notice failure' },
    element('div', { role: 'alert' }, element('h2', {}, title), element('p', {}, text)),
    waiting,
    element('div', { class: 'actions' }, button('Try now', again)),
    error instanceof ApiError ? details(error) : undefined,
  );
  const stop = new AbortController();
  const dueMs = performance.now() + (retryAfterMs ?? 0);
  const ticking = retryAfterMs === undefined ? undefined : setInterval(tick, SECOND_MS / 4);
  if (ticking !== undefined) tick();
  addEventListener('online', again, { signal: stop.signal });

  function again(): void {
    clearInterval(ticking);
    stop.abort();
    if (node.isConnected) retry();
  }

  function tick(): void {
    const leftMs = dueMs - performance.now();
    // Outside of the alert, so that a screen reader does not count along.
    waiting.textContent = `Trying again in ${Math.max(0, Math.ceil(leftMs / SECOND_MS))} s`;
    if (leftMs <= 0) again();
  }
  return node;
}

function details(error: ApiError): HTMLElement {
  return element(
    'p',
    { class: 'muted' },
    element('a', { href: `/errors/${encodeURIComponent(error.code)}` }, error.code),
    ` · request ${error.requestId}`,
  );
}
