import { expect, test } from 'bun:test';
import { databaseHealth } from '../../src/cli/node/database-health.ts';
import { Logger } from '../../src/domain/logger.ts';
import { StorageError } from '../../src/domain/storage-error.ts';

test('an overloaded database counts as usable and is not logged as unreachable, unlike a database that does not respond', async () => {
  const lines: string[] = [];
  const health = databaseHealth(new Logger('debug', (line) => lines.push(line)), 'postgres://x');
  const retry = () => new Promise<void>((resolve) => health.failed('requests', overloaded, resolve));
  const overloaded = new StorageError('overloaded', 'too many queries are waiting for PostgreSQL');
  await retry();
  expect([health.status(), lines]).toEqual([{ state: 'usable' }, []]);
  health.failed('requests', new StorageError('unavailable', 'PostgreSQL has not responded'), () => {});
  const unreachable = { state: 'unreachable', reason: 'PostgreSQL has not responded' } as const;
  expect([health.status(), lines.length]).toEqual([unreachable, 1]);
  // An overload does not show that the database has recovered.
  health.failed('requests', overloaded, () => {});
  expect(health.status()).toEqual(unreachable);
  health.succeeded('requests');
  expect(health.status()).toEqual({ state: 'usable' });
  health.stop();
});

test('an operation that fails again before its retry is retried only once', async () => {
  const health = databaseHealth(new Logger('silent', () => {}), 'postgres://x');
  const error = new StorageError('unavailable', 'PostgreSQL has not responded');
  const retried: string[] = [];
  const failed = (use: 'changes' | 'catalogue', name: string) =>
    new Promise<void>((resolve) => {
      health.failed(use, error, () => {
        retried.push(name);
        resolve();
      });
    });
  const first = failed('changes', 'first');
  void failed('changes', 'second');
  await first;
  // Runs after anything that the second failure may have scheduled.
  await failed('catalogue', 'catalogue');
  expect(retried).toEqual(['first', 'catalogue']);
  await failed('changes', 'third');
  expect(retried).toEqual(['first', 'catalogue', 'third']);
  health.stop();
});
