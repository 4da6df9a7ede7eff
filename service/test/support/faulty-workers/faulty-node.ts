// The offerbook command with workers that a test can break: bun faulty-node.ts TIMINGS serve --workers 2 …

import { serveCommand } from '../../../src/cli/commands/running/serve.ts';

const [timings = '{}', , ...args] = process.argv.slice(2);
const script = new URL('./faulty-worker.ts', import.meta.url);
await serveCommand({ script, timings: JSON.parse(timings) }).parseAsync(args, { from: 'user' });
