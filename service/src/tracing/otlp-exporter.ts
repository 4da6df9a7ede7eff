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

export class OtlpExporter {
  readonly #collector: Collector;
  readonly #options: ExporterOptions;
  readonly #timer: Timer;
  readonly #closing = Promise.withResolvers<void>();
  #isClosing = false;
  #queue: FinishedSpan[] = [];
  #sending: Promise<void> | undefined;
  #isFailing = false;
  #sent = 0;
  #dropped = 0;

  constructor(collector: Collector, options: ExporterOptions) {
    this.#collector = collector;
    this.#options = options;
    this.#timer = setInterval(() => this.#send(), options.intervalMs ?? 5_000);
    this.#timer.unref();
  }

  get counts(): SpanCounts {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  add(span: FinishedSpan): void {
    if (this.#queue.length >= QUEUE_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#queue.push(span);
    if (this.#queue.length >= BATCH_MAX) this.#send();
  }

  /** Sends the queued spans without retries, and returns after `timeoutMs` at the latest. */
  async close(timeoutMs = CLOSE_MAX_MS): Promise<void> {
    clearInterval(this.#timer);
    this.#isClosing = true;
    this.#closing.resolve();
    this.#send();
    await Promise.race([this.#sending, Bun.sleep(timeoutMs)]);
  }

  #send(): void {
    this.#sending ??= this.#sendQueue().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_MAX);
      const reason = await this.#deliver(batch);
      if ((reason !== undefined) !== this.#isFailing) this.#options.onChange(reason);
      this.#isFailing = reason !== undefined;
    }
  }

  /** Returns why the collector did not accept the batch; undefined if it did. */
  async #deliver(batch: readonly FinishedSpan[]): Promise<string | undefined> {
    const body = encode(this.#collector.resource, batch);
    let delayMs = this.#options.retryMs ?? 1_000;
    for (let retries = 0; ; retries += 1) {
      const answer = await this.#post(body);
      if (answer.status >= 200 && answer.status < 300) {
        const rejected = Math.min(batch.length, answer.rejected);
        this.#sent += batch.length - rejected;
        this.#dropped += rejected;
        return undefined;
      }
      if (!RETRIED.has(answer.status) || retries >= RETRIES_MAX || this.#isClosing) {
        this.#dropped += batch.length;
        return answer.reason;
      }
      await Promise.race([Bun.sleep(answer.retryAfterMs ?? delayMs), this.#closing.promise]);
      delayMs *= 2;
    }
  }

  async #post(body: string) {
    const { url, headers } = this.#collector;
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
      return {
        status,
        reason: `it responded with status ${status}`,
        rejected: Number(rejected),
        retryAfterMs,
      };
    } catch (error) {
      // Treat a network error like a 503 from a proxy: retry.
      const reason = error instanceof Error ? error.message : 'it is unreachable';
      return { status: 503, reason, rejected: 0, retryAfterMs: undefined };
    }
  }
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
