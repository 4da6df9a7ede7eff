import { describe, expect, test } from 'bun:test';
import { OfferbookClient, parseTimestamp } from '../src/index.ts';
import { BASE_URL, failure, id, json, PRIVATE, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('sending and returning dates', () => {
  const transaction = {
    id: id(1),
    soldAt: '2026-11-14T12:00:00',
    updatedAt: '2026-11-14T12:00:00.123',
    clickedAt: null,
  };

  const openDated = (row: object) => {
    const { fetch } = scripted(() => json({ data: [row] }));
    return new OfferbookClient({ baseUrl: BASE_URL, token: PRIVATE, fetch, dates: 'Date' });
  };

  test('dates are returned as strings by default', async () => {
    const { client } = openClient(
      scripted(() => json({ data: [transaction] })),
      { token: PRIVATE },
    );
    expect<unknown>((await client.transactions()).data).toEqual([transaction]);
  });

  test('dates are returned as Dates on request, parsed as UTC', async () => {
    const [first] = (await openDated(transaction).transactions()).data;
    const soldAt: Date | undefined = first?.soldAt;
    expect([soldAt, first?.updatedAt, first?.clickedAt]).toEqual([
      new Date(Date.UTC(2026, 10, 14, 12)),
      new Date(Date.UTC(2026, 10, 14, 12, 0, 0, 123)),
      null,
    ]);
  });

  test.each(['2026-11-14T12:00:00.1234', '2026-11-14T12:00:00+01:00', '2026-13-14T12:00:00'])(
    'dates that a Date cannot represent are rejected instead of truncated: %s',
    async (soldAt) => {
      const call = openDated({ ...transaction, soldAt }).transactions();
      expect(await failure(call)).toMatchObject({ code: 'bad_shape' });
    },
  );
});

describe('parseTimestamp', () => {
  test.each([
    ['2026-11-14T12:00:00', Date.UTC(2026, 10, 14, 12)],
    ['2026-11-14T12:00:00.123', Date.UTC(2026, 10, 14, 12, 0, 0, 123)],
  ])('parses %s as UTC in any time zone', (text, ms) => {
    expect(parseTimestamp(text).getTime()).toBe(ms);
  });

  test.each(['', '2026-11-14', '2026-11-14T12:00:00Z', '2026-11-14T12:00:00+01:00', 'now'])(
    'rejects a format that the service does not send: %j',
    (text) => {
      expect(() => parseTimestamp(text)).toThrow(RangeError);
    },
  );
});
