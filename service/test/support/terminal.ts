import { expect } from 'bun:test';

/** Runs a program on a terminal of this width until it succeeds; returns all that it wrote. */
export async function screenOf(
  command: readonly string[],
  cols: number,
  env: Record<string, string | undefined> = process.env,
): Promise<string> {
  let screen = '';
  const data = (_: unknown, bytes: Uint8Array) => {
    screen += new TextDecoder().decode(bytes);
  };
  const child = Bun.spawn([...command], { env, terminal: { cols, data } });
  expect(await child.exited).toBe(0);
  return screen;
}
