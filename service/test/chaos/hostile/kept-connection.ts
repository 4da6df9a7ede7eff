// Sends requests one after the other on a keep-alive connection, or on a new one if the server has closed it.

import { HttpConnection, type Outcome } from '../traffic/http-connection.ts';

export function keptConnection(url: string) {
  let kept: HttpConnection | undefined;
  return {
    async send(bytes: Uint8Array, method: string): Promise<Outcome> {
      if (kept?.isOpen === true) {
        const outcome = await kept.exchange(bytes, method);
        // The server may have closed the idle connection, so send the request again on a new one.
        if (outcome.kind !== 'closed') return outcome;
      }
      kept = await HttpConnection.open(url);
      return kept.exchange(bytes, method);
    },
    [Symbol.dispose]: () => kept?.[Symbol.dispose](),
  };
}

export function printOutcome(outcome: Outcome): string {
  if (outcome.kind !== 'answer') return JSON.stringify(outcome);
  const { status, headers, body } = outcome.answer;
  const shown = [...headers].filter(([name]) => name !== 'date' && !name.startsWith('access-control'));
  return `${status} ${JSON.stringify(shown)} ${body.slice(0, 1_000)}`;
}
