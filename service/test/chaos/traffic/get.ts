// GET requests that end, and requests to every worker of a node.

import { until } from '../../support/until.ts';

/** Far longer than any response takes, even on a busy machine. */
const RESPONSE_MAX_MS = 60_000;
/** Consecutive correct responses on connections of their own, so that every worker has sent some. */
const CONNECTIONS = 24;

interface GetOptions {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a GET request, which fails if its response is not complete after a minute. */
export function get(url: string, { token, headers = {} }: GetOptions = {}): Promise<Response> {
  return fetch(url, {
    headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers },
    signal: AbortSignal.timeout(RESPONSE_MAX_MS),
  });
}

/** Sends requests over separate connections until all responses, and thus all workers, are correct. */
export async function untilEverywhere(
  url: string,
  token: string,
  isRight: (status: number, body: string) => boolean,
): Promise<void> {
  const findProblem = async () => {
    for (let sent = 0; sent < CONNECTIONS; sent++) {
      const response = await get(url, { token, headers: { Connection: 'close' } });
      const body = await response.text();
      if (!isRight(response.status, body)) return `${response.status}: ${body.slice(0, 200)}`;
    }
    return undefined;
  };
  await until(findProblem, (problem) => problem === undefined);
}
