import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Candidate, choosePrimary } from '../../src/storage/postgres/choose-primary.ts';

const at = (address: string) => ({ address, url: `postgres://${address}`, socket: undefined });

const server = (address: string, timeline: number | null, changes: Partial<Candidate> = {}): Candidate => ({
  server: at(address),
  isStandby: timeline === null,
  system: 'one',
  timeline,
  startedAt: address,
  ...changes,
});

const candidate = fc
  .record({
    server: fc.constantFrom('a', 'b', 'c', 'd').map(at),
    isStandby: fc.boolean(),
    system: fc.constantFrom('one', 'two', null),
    timeline: fc.option(fc.integer({ min: 1, max: 3 })),
    process: fc.constantFrom('1', '2', '3'),
  })
  .map(({ process, ...rest }) => ({ ...rest, startedAt: `${process} ${rest.isStandby} ${rest.timeline}` }));

test('the server with the highest timeline is the primary, whatever the order of the responses', () => {
  const servers = [server('a', 1), server('b', null), server('c', 3), server('d', 2)];
  expect(choosePrimary(servers)).toEqual({
    primary: server('c', 3),
    rivals: [server('d', 2), server('a', 1)],
  });
  expect(choosePrimary(servers.toReversed())).toEqual(choosePrimary(servers));
});

test('two addresses of one server count as one server', () => {
  const [one, again] = [server('a', 1, { startedAt: 'x' }), server('b', 1, { startedAt: 'x' })];
  expect(choosePrimary([one, again])).toEqual({ primary: one, rivals: [] });
});

test('servers on one timeline, of different systems or without a timeline cannot be ordered', () => {
  const message =
    'several PostgreSQL servers accept writes (a, b), and their timelines do not show which is the primary; stop all but the primary';
  for (const other of [
    server('b', 2),
    server('b', 1, { system: 'two' }),
    server('b', 1, { timeline: null, isStandby: false }),
    server('b', 1, { system: null }),
  ])
    expect(choosePrimary([server('a', 2), other])).toEqual({ refusal: message });
});

test('a server that has been replaced is refused, even if it is the only one that responds', () => {
  expect(choosePrimary([server('a', 1)], server('b', 2))).toEqual({
    refusal: 'the PostgreSQL server at a is on timeline 1, but this process has used timeline 2',
  });
  expect(choosePrimary([server('a', 2)], server('b', 2))).toEqual({ primary: server('a', 2), rivals: [] });
});

test('the choice never depends on which server responds first, and is never a standby', () => {
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 4 }), (servers) => {
      const choice = choosePrimary(servers);
      if (choice === undefined) return servers.every(({ isStandby }) => isStandby);
      if ('refusal' in choice) return 'refusal' in (choosePrimary(servers.toReversed()) ?? {});
      const again = choosePrimary(servers.toReversed());
      return (
        !choice.primary.isStandby &&
        again !== undefined &&
        'primary' in again &&
        again.primary.timeline === choice.primary.timeline &&
        again.primary.startedAt === choice.primary.startedAt
      );
    }),
  );
});
