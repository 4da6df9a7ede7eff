// The port of the sandbox's fake networks.

import { expect, test } from 'bun:test';
import { serveNetworks } from '../../src/cli/commands/sandbox/networks.ts';

test('a second sandbox cannot share the port of the fake networks', async () => {
  const options = { seed: 1, logoUrl: () => 'https://logos.example/' };
  const first = serveNetworks({ ...options, port: 0 });
  const port = Number(new URL(first.url).port);
  try {
    expect(() => serveNetworks({ ...options, port })).toThrow(
      `port ${port} on 127.0.0.1 is in use; choose another with --networks-port`,
    );
  } finally {
    await first.stop();
  }
});
