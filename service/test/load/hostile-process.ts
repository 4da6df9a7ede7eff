// Runs a hostile crowd in a separate process, so that it does not distort the measurements of the well-behaved client:
// `hostile-process.ts URL HELD SEED`, with the token on stdin. Stops at the end of stdin and prints its counts.

import { startHostileCrowd } from './hostile-clients.ts';

const [url = '', held = '0', seed = '0'] = process.argv.slice(2);
const decoder = new TextDecoder();
let token = '';
let crowd: ReturnType<typeof startHostileCrowd> | undefined;
for await (const chunk of Bun.stdin.stream()) {
  token += decoder.decode(chunk);
  if (token.endsWith('\n') && crowd === undefined) {
    crowd = startHostileCrowd({ url, token: token.trim(), held: Number(held), seed: Number(seed) });
    process.stdout.write('started\n');
  }
}
await crowd?.stop();
process.stdout.write(`${JSON.stringify({ opened: crowd?.opened, cutOff: crowd?.cutOff })}\n`);
process.exit(0);
