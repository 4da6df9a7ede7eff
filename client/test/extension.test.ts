// The example extension without a browser: its modules, with stand-ins for Chrome's API and for the server.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';

const FOLDER = '../../examples/extension';
const shop = (id: string, domains: string[], cashbackPercentage: number | null = 0.05) => ({
  ...{ id, name: id, domains, cashbackPercentage, maximumFixedCommissionFee: null },
});

/** Chrome's API: storage in memory, and events whose listeners the tests call. */
const local: Record<string, unknown> = {};
const session: Record<string, unknown> = {};
const alarms: object[] = [];
const badges: string[] = [];
const listeners: Record<string, (value?: unknown) => Promise<void>> = {};
const event = (name: string) => ({
  addListener: (listener: (value?: unknown) => Promise<void>) => {
    listeners[name] = listener;
  },
});
const area = (items: Record<string, unknown>) => ({
  get: async (key: string) => (key in items ? { [key]: items[key] } : {}),
  set: async (more: object) => void Object.assign(items, more),
});
const chrome = {
  action: {
    setBadgeBackgroundColor: async () => {},
    setBadgeText: async ({ text }: { text: string }) => void badges.push(text),
    setPopup: async () => {},
    setTitle: async () => {},
  },
  alarms: {
    create: async (name: string, info: object) => void alarms.push({ name, ...info }),
    onAlarm: event('alarm'),
  },
  runtime: { onInstalled: event('installed'), onStartup: event('startup') },
  storage: { local: area(local), session: area(session) },
  webNavigation: {
    onBeforeNavigate: event('before'),
    onCommitted: event('committed'),
    onHistoryStateUpdated: event('history'),
  },
};
let served: object[] | undefined;
const realFetch = globalThis.fetch;

beforeAll(async () => {
  Object.assign(globalThis, {
    chrome,
    fetch: async () =>
      served === undefined ? new Response('', { status: 503 }) : Response.json({ data: served }),
  });
  await import(`${FOLDER}/background.js`);
});
beforeEach(() => {
  for (const items of [local, session]) for (const key of Object.keys(items)) delete items[key];
  alarms.length = 0;
  badges.length = 0;
});
afterAll(() => {
  globalThis.fetch = realFetch;
  Reflect.deleteProperty(globalThis, 'chrome');
});

const call = (name: string, value?: unknown) => listeners[name]?.(value);

describe('the background script', () => {
  test('keeps the id of the user when the extension is updated', async () => {
    served = [];
    await call('installed', { reason: 'install' });
    const { userId } = local;
    expect(userId).toMatch(/^[0-9a-f-]{36}$/);
    await call('installed', { reason: 'update' });
    expect(local.userId).toBe(userId);
  });

  test.each(['installed', 'startup', 'alarm'])(
    'after %s, the next download is in an hour, or within minutes if this one fails',
    async (name) => {
      served = [];
      await call(name);
      expect(alarms.at(-1)).toEqual({ name: 'refresh', periodInMinutes: 60 });
      served = undefined;
      await expect(Promise.resolve(call(name))).rejects.toThrow('503');
      expect(alarms.at(-1)).toEqual({ name: 'refresh', periodInMinutes: 2 });
    },
  );

  test('shows the cashback of a page, but does not count frames as visits', async () => {
    served = [shop('a', ['a.example'])];
    await call('alarm');
    const visit = async (frameId: number, url: string) => {
      call('committed', { tabId: 1, frameId, url });
      // Tasks run one after the other, so the arrival of a page in a second tab is noted last.
      call('committed', { tabId: 2, frameId: 0, url: 'https://other.example/' });
      while (!('tab 2' in session)) await Bun.sleep(1);
      delete session['tab 2'];
    };
    await visit(7, 'https://a.example/frame');
    expect([badges, session]).toEqual([[], {}]);
    call('before', { tabId: 1, frameId: 7, url: 'https://www.awin1.com/advertisement' });
    await visit(0, 'https://www.a.example/page');
    expect(badges).toEqual(['5%']);
    expect(session['tab 1']).toMatchObject({ page: 'https://www.a.example/page' });
  });
});

describe('the list of shops', () => {
  test('is replaced by each download, and leaves out domains that two shops share', async () => {
    const { findShop } = await import(`${FOLDER}/shops.js`);
    served = [shop('a', ['a.example', 'both.example']), shop('b', ['b.example', 'both.example'])];
    await call('alarm');
    const found = async (host: string) => ((await findShop(host)) as { id: string } | undefined)?.id;
    expect(
      await Promise.all(['www.a.example', 'b.example', 'both.example', 'x.both.example'].map(found)),
    ).toEqual(['a', 'b', undefined, undefined]);
    served = [shop('c', ['a.example']), shop('d', ['d.example'], null)];
    await call('alarm');
    expect(await Promise.all(['a.example', 'b.example', 'd.example'].map(found))).toEqual([
      'c',
      undefined,
      undefined,
    ]);
  });
});

describe('referrals', () => {
  test('expire if no shop appears within a minute, and ours survives the network behind it', async () => {
    const { referralAfter, sessionAfter, REDIRECTS_MS, SESSION_MS } = await import(`${FOLDER}/referrals.js`);
    const own = 'https://api.example';
    const after = (before: object | undefined, url: string, nowMs: number) =>
      referralAfter(before, new URL(url), own, nowMs);
    const theirs = after(undefined, 'https://www.awin1.com/cread.php', 0);
    expect(theirs).toEqual({ by: 'another', atMs: 0 });
    expect(after(theirs, 'https://shop.example/', REDIRECTS_MS - 1)).toEqual(theirs);
    expect(after(theirs, 'https://shop.example/', REDIRECTS_MS)).toBeUndefined();
    const ours = after(theirs, `${own}/go/x/`, 1);
    expect(after(ours, 'https://www.awin1.com/cread.php', 2)).toEqual({ by: 'us', atMs: 1 });
    const started = sessionAfter(undefined, ours, 10);
    expect(started).toEqual({ by: 'us', untilMs: 10 + SESSION_MS });
    expect(sessionAfter(started, undefined, 10 + SESSION_MS)).toBeUndefined();
  });
});

describe('the activation link', () => {
  const longest = `https://a.example/${'x'.repeat(2_048 - 'https://a.example/'.length)}`;
  test.each([
    ['https://a.example/p?q=1#section', 'https://a.example/p?q=1'],
    [longest, longest],
    [`${longest}x`, null],
    ['http://a.example/', null],
    ['https://a.example:8443/', null],
  ])(
    'case %#: only a short https page without a port is a target, without its fragment',
    async (page, to) => {
      const { activationUrl } = await import(`${FOLDER}/activation-url.js`);
      const url = new URL(activationUrl('0192', 'user 1', page));
      expect([url.pathname, url.searchParams.get('passbackUid'), url.searchParams.get('to')]).toEqual([
        '/v1/retailers/0192/activate/',
        'user 1',
        to,
      ]);
    },
  );
});
