import { expect, test } from 'bun:test';
import { runDurability } from './durability.ts';
import { MACHINES } from './machine.ts';

const ROUNDS = 2;

for (const { name, open } of MACHINES) {
  test(`an acknowledged import survives killing every process on ${name}`, async () => {
    await using machine = await open();
    const report = await runDurability(machine, ROUNDS, 1);
    expect(report).toMatchObject({ acknowledged: ROUNDS, lost: 0, half: 0, damage: [] });
  });
}
