// The program: runs a command and ends with its exit code.

import { run } from './cli/run.ts';

process.exitCode = await run(process.argv.slice(2));
