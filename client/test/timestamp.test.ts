import { describe, expect, test } from 'bun:test';
import { OfferbookClient, parseTimestamp } from '../src/index.ts';
import { BASE_URL, failure, id, json, PRIVATE, page, scripted } from './support/answers.ts';
import { openClient } from './support/open-client.ts';

describe('sending and returning dates', () => {
  test('dates are sent unchanged if they are strings, and with millisecond precision if they are Dates', async () => {
    const script = scripted(() => page([]));
    await openClient(script, { token: PRIVATE }).client.transactions({
      updatedAtGreaterThan: '2026-11-14T12:00:00.123456789+01:00',
      updatedAtLessThan: new Date(Date.UTC(2026, 10, 15, 0, 0, 0, 7)),
    });
    expect([...new URL(script.requests[0]?.url ?? '').searchParams]).toEqual([
      ['updatedAtGreaterThan', '2026-11-14T12:00:00.123456789+01:00'],
      ['updatedAtLessThan', '2026-11-15T00:00:00.007Z'],
    ]);
  });

  const transaction = {
    id: id(1),
    soldAt: '2026-11-14T12:00:00',
    updatedAt: '2026-11-14T12:00:00.123',
    clickedAt: null,
  };

  test('dates are returned as strings by default', async () => {
    const { client } = openClient(
      scripted(() => json({ data: [transaction] })),
      { token: PRIVATE },
    );
    expect<unknown>((await client.transactions()).data).toEqual([transaction]);
  });

  test('dates are returned as Dates on request, parsed as UTC', async () => {
    const script = scripted(() => json({ data: [transaction] }));
    const client = new OfferbookClient({
      baseUrl: BASE_URL,
      token: PRIVATE,
      fetch: script.fetch,
      dates: 'Date',
    });
    const [first] = (await client.transactions()).data;
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
      const script = scripted(() => json({ data: [{ ...transaction, soldAt }] }));
      const client = new OfferbookClient({
        baseUrl: BASE_URL,
        token: PRIVATE,
        fetch: script.fetch,
        dates: 'Date',
      });
      expect(await failure(client.transactions())).toMatchObject({ code: 'bad_shape' });
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
