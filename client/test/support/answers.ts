// Responses in the service's format, for tests that replace it.

import type { Fetch } from '../../src/request.ts';
import type { Problem } from '../../src/wire.ts';

export const PUBLIC = `ob_pub_${'a'.repeat(36)}`;
export const PRIVATE = `ob_prv_${'a'.repeat(36)}`;
export const BASE_URL = 'https://api.example';

/** A UUID that contains its number and sorts by it. */
export function id(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export function page(
  ids: readonly number[],
  cursor?: number,
  headers: Record<string, string> = {},
): Response {
  const data = ids.map((number) => ({ id: id(number) }));
  return json(cursor === undefined ? { data } : { data, cursor: id(cursor) }, headers);
}

export function json(body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    headers: { 'Content-Type': 'application/json', 'Request-Id': 'req-1', ...headers },
  });
}

export function problem(
  status: number,
  code: Problem['code'],
  headers: Record<string, string> = {},
  more: Partial<Problem> = {},
): Response {
  const body: Problem = {
    type: `${BASE_URL}/errors/${code}`,
    title: code,
    status,
    detail: 'It did not work.',
    instance: '/v1/retailers/',
    code,
    requestId: 'req-1',
    ...more,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...headers },
  });
}

export function html(status: number, headers: Record<string, string> = {}): Response {
  return new Response('<html><title>Bad gateway</title></html>', {
    status,
    headers: { 'Content-Type': 'text/html', ...headers },
  });
}

export interface ScriptedFetch {
  readonly fetch: Fetch;
  /** Header names are in lower case. */
  readonly requests: { readonly url: string; readonly headers: Record<string, string> }[];
}

/** Returns one response after the other. A request after the last one fails the test. */
export function scripted(...answers: readonly (() => Response | Promise<Response>)[]): ScriptedFetch {
  const requests: ScriptedFetch['requests'] = [];
  return {
    requests,
    fetch: async (url, init) => {
      const answer = answers[requests.length];
      requests.push({ url, headers: Object.fromEntries(new Headers(init.headers)) });
      if (answer === undefined) throw new Error(`request ${requests.length} was not expected: ${url}`);
      return answer();
    },
  };
}

export function refuseConnection(): never {
  throw new TypeError('connect ECONNREFUSED');
}

/** Returns the reason of a rejected promise; throws if it resolves. */
export async function failure(promise: PromiseLike<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
