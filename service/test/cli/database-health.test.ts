import { expect, test } from 'bun:test';
import { DatabaseHealth } from '../../src/cli/node/database-health.ts';
import { Logger } from '../../src/domain/logger.ts';
import { StorageError } from '../../src/domain/storage-error.ts';

test('an overloaded database counts as usable and is not logged as unreachable, unlike a database that does not respond', async () => {
  const lines: string[] = [];
  const health = new DatabaseHealth(new Logger('debug', (line) => lines.push(line)));
  const retry = () => new Promise<void>((resolve) => health.failed('requests', overloaded, resolve));
  const overloaded = new StorageError('overloaded', 'too many queries are waiting for PostgreSQL');
  await retry();
  expect([health.isUsable, lines]).toEqual([true, []]);
  health.failed('requests', new StorageError('unavailable', 'PostgreSQL has not responded'), () => {});
  expect([health.isUsable, lines.length]).toEqual([false, 1]);
  // An overload does not show that the database has recovered.
  health.failed('requests', overloaded, () => {});
  expect(health.isUsable).toBe(false);
  health.succeeded('requests');
  expect(health.isUsable).toBe(true);
  health.stop();
});

test('an operation that fails again before its retry is retried only once', async () => {
  const health = new DatabaseHealth(new Logger('silent', () => {}));
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
