import { expect } from 'bun:test';

/** Runs a program on a terminal of this width until it succeeds; returns all that it wrote. `onWrite` is called after each write. */
export async function screenOf(
  command: readonly string[],
  cols: number,
  env: Record<string, string | undefined> = process.env,
  onWrite = () => {},
): Promise<string> {
  let screen = '';
  const data = (_: unknown, bytes: Uint8Array) => {
    screen += new TextDecoder().decode(bytes);
    onWrite();
  };
  const child = Bun.spawn([...command], { env, terminal: { cols, data } });
  expect(await child.exited).toBe(0);
  return screen;
}
