// An OpenTelemetry collector on a real socket: stores the spans it receives and responds as the test specifies.

import type { TracingSettings } from '../../src/tracing/tracing-settings.ts';
import { leakWatch } from './leak-watch.ts';
import { localServer } from './local-server.ts';
import { until } from './until.ts';

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly SentAttribute[];
  readonly status: { readonly code?: number };
}

interface SentAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

export interface SentBatch {
  readonly path: string;
  readonly headers: Headers;
  readonly body: {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly SentAttribute[] };
      readonly scopeSpans: readonly { readonly scope: unknown; readonly spans: readonly SentSpan[] }[];
    }[];
  };
}

type Answer = (batch: number) => Response | Promise<Response>;

export class SpanCollector implements AsyncDisposable {
  readonly url: string;
  readonly batches: SentBatch[] = [];
  readonly #server: Bun.Server<undefined>;

  private constructor(answer: Answer) {
    this.#server = localServer(async (request) => {
      const text = await request.text();
      leakWatch.noteOutput('spans', text);
      const body = JSON.parse(text) as SentBatch['body'];
      this.batches.push({ path: new URL(request.url).pathname, headers: request.headers, body });
      return answer(this.batches.length);
    });
    this.url = `http://127.0.0.1:${this.#server.port}`;
  }

  static start(answer: Answer = () => Response.json({ partialSuccess: {} })): SpanCollector {
    return new SpanCollector(answer);
  }

  get spans(): readonly SentSpan[] {
    return this.batches.flatMap(({ body }) => spansOf(body));
  }

  /** Waits for a number of batches. */
  async received(count: number): Promise<void> {
    await until(() => this.batches.length >= count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

export function tracingTo(
  collector: SpanCollector,
  sampling: Partial<TracingSettings['sampling']> = {},
): TracingSettings {
  return {
    url: `${collector.url}/v1/traces`,
    headers: {},
    resource: { 'service.name': 'offerbook' },
    sampling: { ratio: 1, followsParent: true, ...sampling },
  };
}

export function spansOf({ resourceSpans }: SentBatch['body']): readonly SentSpan[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** The attributes as an object of strings and numbers. */
export function attributesOf({ attributes }: Pick<SentSpan, 'attributes'>): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}
