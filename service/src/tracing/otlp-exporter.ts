// Sends finished spans to a collector as OTLP/HTTP with JSON. Spans wait in a bounded queue. If the collector is unreachable,
// spans are lost, but requests are not affected.

import { parseRetryAfterMs } from '@offerbook/wire/time.ts';
import manifest from '../../package.json';
import { systemClock } from '../domain/clock.ts';
import { type Attributes, type FinishedSpan, SPAN_KINDS } from './tracer.ts';
import type { Collector } from './tracing-settings.ts';

const QUEUE_MAX = 2_048;
const BATCH_MAX = 512;
const TIMEOUT_MS = 10_000;
/** How long a stopping process waits for its last spans to be sent. */
const CLOSE_MAX_MS = 1_000;
const RETRIES_MAX = 4;
const RETRY_AFTER_MAX_MS = 30_000;
/** HTTP statuses after which a retry of the same batch may succeed. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const STATUS_ERROR = 2;

export interface SpanCounts {
  readonly sent: number;
  /** Spans that did not fit into the queue, or that the collector did not accept. */
  readonly dropped: number;
}

interface ExporterOptions {
  /** Called with a reason when the collector stops accepting spans, and with undefined when it recovers. */
  readonly onChange: (reason: string | undefined) => void;
  readonly intervalMs?: number;
  /** Delay before the first retry; doubles with each retry. */
  readonly retryMs?: number;
}

export function otlpExporter(
  { url, headers, resource }: Collector,
  { onChange, intervalMs = 5_000, retryMs = 1_000 }: ExporterOptions,
) {
  const closing = Promise.withResolvers<void>();
  let isClosing = false;
  const queue: FinishedSpan[] = [];
  let sending: Promise<void> | undefined;
  let isFailing = false;
  let sent = 0;
  let dropped = 0;
  const timer = setInterval(send, intervalMs);
  timer.unref();

  function send(): void {
    sending ??= sendQueue().finally(() => {
      sending = undefined;
    });
  }

  async function sendQueue(): Promise<void> {
    while (queue.length > 0) {
      const reason = await deliver(queue.splice(0, BATCH_MAX));
      if ((reason !== undefined) !== isFailing) onChange(reason);
      isFailing = reason !== undefined;
    }
  }

  /** Returns why the collector did not accept the batch; undefined if it did. */
  async function deliver(batch: readonly FinishedSpan[]): Promise<string | undefined> {
    const body = encode(resource, batch);
    let delayMs = retryMs;
    for (let retries = 0; ; retries += 1) {
      const answer = await post(body);
      if (answer.status >= 200 && answer.status < 300) {
        const rejected = Math.min(batch.length, answer.rejected);
        sent += batch.length - rejected;
        dropped += rejected;
        return undefined;
      }
      if (!RETRIED.has(answer.status) || retries >= RETRIES_MAX || isClosing) {
        dropped += batch.length;
        return answer.reason;
      }
      await Promise.race([Bun.sleep(answer.retryAfterMs ?? delayMs), closing.promise]);
      delayMs *= 2;
    }
  }

  async function post(body: string) {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body,
        // The headers may contain a secret for this collector, so do not follow redirects.
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { status } = response;
      // The number of spans that the collector rejected from a batch that it otherwise accepted.
      const [, rejected = '0'] = /"rejectedSpans"\s*:\s*"?(\d+)/.exec(await response.text()) ?? [];
      const askedMs = parseRetryAfterMs(response.headers.get('Retry-After'), systemClock());
      const retryAfterMs = askedMs && Math.min(askedMs, RETRY_AFTER_MAX_MS);
      const reason = `it responded with status ${status}`;
      return { status, reason, rejected: Number(rejected), retryAfterMs };
    } catch (error) {
      // Treat a network error like a 503 from a proxy: retry.
      const reason = error instanceof Error ? error.message : 'it is unreachable';
      return { status: 503, reason, rejected: 0, retryAfterMs: undefined };
    }
  }

  return {
    get counts(): SpanCounts {
      return { sent, dropped };
    },
    add(span: FinishedSpan): void {
      if (queue.length >= QUEUE_MAX) {
        dropped += 1;
        return;
      }
      queue.push(span);
      if (queue.length >= BATCH_MAX) send();
    },
    /** Sends the queued spans without retries, and returns after `timeoutMs` at the latest. */
    async close(timeoutMs = CLOSE_MAX_MS): Promise<void> {
      clearInterval(timer);
      isClosing = true;
      closing.resolve();
      send();
      await Promise.race([sending, Bun.sleep(timeoutMs)]);
    },
  };
}

/** In OTLP/JSON, ids are hex, 64-bit integers are decimal strings and enums are numbers. */
function encode(resource: Attributes, spans: readonly FinishedSpan[]): string {
  const { name, version } = manifest;
  const attributes = encodeAttributes({ 'service.version': version, ...resource });
  const scopeSpans = [{ scope: { name, version }, spans: spans.map(encodeSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans }] });
}

function encodeSpan({ startMs, durationMs, ...span }: FinishedSpan): object {
  const wholeMs = Math.floor(startMs);
  const start = BigInt(wholeMs) * 1_000_000n + toNanos(startMs - wholeMs);
  return {
    traceId: span.traceId,
    spanId: span.id,
    parentSpanId: span.parentId,
    name: span.name,
    kind: SPAN_KINDS[span.kind],
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + toNanos(durationMs)),
    attributes: encodeAttributes(span.attributes),
    status: span.isError ? { code: STATUS_ERROR } : {},
  };
}

function toNanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6));
}

function encodeAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }));
}
