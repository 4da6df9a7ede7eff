// Shows a failure to the reader: what happened, what happens next, and a button to retry. The note retries automatically after
// the delay that the service requested, or when the browser is online again.

import { ApiError, MalformedResponseError, NetworkError, TimeoutError } from '@offerbook/client';
import { button, element } from '../element.ts';

const SECOND_MS = 1_000;
const RETRY_DEFAULT_MS = 5_000;

/** `retryAfterMs` is the delay before the automatic retry; undefined for none. */
function explain(error: unknown) {
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
      text: 'It is starting or stopping, or its database is unreachable. It usually recovers within seconds.',
      retryAfterMs: error.retryAfterMs ?? RETRY_DEFAULT_MS,
    };
  }
  if (error instanceof NetworkError || error instanceof TimeoutError) {
    return {
      title: navigator.onLine ? 'No response from the service' : 'You are offline',
      text: navigator.onLine
        ? 'The service may have stopped, or the connection may be down.'
        : 'This page continues automatically when you are online again.',
      retryAfterMs: RETRY_DEFAULT_MS,
    };
  }
  if (error instanceof MalformedResponseError) {
    return {
      title: 'Unexpected response',
      text: 'The response did not come from Offerbook. Check the proxies between this page and the service.',
    };
  }
  return { title: 'Something went wrong', text: 'Try again. If the problem persists, contact the operator.' };
}

export function failureNote(error: unknown, retry: () => void): HTMLElement {
  const { title, text, retryAfterMs } = explain(error);
  const countdown = element('p.muted');
  const node = element(
    'div.notice.failure',
    element('div', { role: 'alert' }, element('h2', title), element('p', text)),
    countdown,
    button('Try now', again),
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
    // Outside the alert, so that screen readers do not announce every second.
    countdown.textContent = `Trying again in ${Math.max(0, Math.ceil(leftMs / SECOND_MS))} s`;
    if (leftMs <= 0) again();
  }
  return node;
}

function details(error: ApiError): HTMLElement {
  return element(
    'p.muted',
    element('a', { href: `/errors/${encodeURIComponent(error.code)}` }, error.code),
    ` · request ${error.requestId}`,
  );
}
