// Writes src/wire.ts from the OpenAPI document on stdin:
//   npm run generate --workspace @offerbook/client

import { join } from 'node:path';
import { type OpenApi, printWire } from './print-wire.ts';

const document = JSON.parse(await Bun.stdin.text()) as OpenApi;
await Bun.write(join(import.meta.dir, '../src/wire.ts'), printWire(document));
