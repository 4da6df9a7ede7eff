// Compression: chooses a coding from the Accept-Encoding header, and compresses the body. Levels are low for pages, because
// higher levels take much longer and save little.

import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip } from 'node:zlib';
import { parseQualities } from './qualities.ts';

/** In our order of preference, for clients that do not state a preference. */
export const CODINGS = ['zstd', 'br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Below this size, compression saves less than its headers cost. */
const SIZE_MIN = 1_000;
/** Compressing larger bodies would block the process for too long. Only pages with a single huge item are larger. */
const SIZE_MAX = 5 * 1024 * 1024;
/** From this size, compression takes milliseconds, so compressInThread() uses another thread. */
const THREAD_SIZE_MIN = 1024 * 1024;

/** Parsed Accept-Encoding headers. Clients send only a few different values. */
const preferredByHeader = new Map<string, Coding | undefined>();
const HEADERS_KEPT_MAX = 100;

/** Returns undefined if the body should not be compressed. `sizeMax` is higher for bodies that are compressed once. */
export function chooseCoding(
  acceptEncoding: string | null,
  size: number,
  sizeMax = SIZE_MAX,
): Coding | undefined {
  if (acceptEncoding === null || acceptEncoding === '') return undefined;
  if (size < SIZE_MIN || size > sizeMax) return undefined;
  // Unusual headers from one client must not fill the cache permanently.
  if (preferredByHeader.size === HEADERS_KEPT_MAX) preferredByHeader.clear();
  return preferredByHeader.getOrInsertComputed(acceptEncoding, preferredCoding);
}

function preferredCoding(acceptEncoding: string): Coding | undefined {
  const qualities = parseQualities(acceptEncoding);
  const quality = (coding: string) => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [best] = CODINGS.toSorted((a, b) => quality(b) - quality(a));
  // A client that ranks "identity" above every coding does not want compression.
  const least = qualities.get('identity') ?? 0;
  return best !== undefined && quality(best) > 0 && quality(best) >= least ? best : undefined;
}

export function compress(coding: Coding, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  // The type allows shared memory, but the compressors never return it.
  return compressors[coding](bytes) as Uint8Array<ArrayBuffer>;
}

/** Compresses in another thread: `fast` for a body that is sent once (in this thread if it is small), `good` if sent often. */
export async function compressInThread(
  coding: Coding,
  bytes: Uint8Array<ArrayBuffer>,
  effort: 'fast' | 'good',
): Promise<Uint8Array<ArrayBuffer>> {
  if (effort === 'fast' && bytes.length < THREAD_SIZE_MIN) return compress(coding, bytes);
  return (await threadedCompressors[coding](bytes, LEVELS[effort][coding])) as Uint8Array<ArrayBuffer>;
}

const LEVELS = { fast: { zstd: 1, br: 1, gzip: 1 }, good: { zstd: 6, br: 4, gzip: 6 } } as const;

function brotliOptions(quality: number) {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
}

const compressors: Record<Coding, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array> = {
  zstd: (bytes) => Bun.zstdCompressSync(bytes, { level: LEVELS.fast.zstd }),
  br: (bytes) => brotliCompressSync(bytes, brotliOptions(LEVELS.fast.br)),
  gzip: (bytes) => Bun.gzipSync(bytes, { level: LEVELS.fast.gzip, library: 'libdeflate' }),
};

const brotliInThread = promisify(brotliCompress);
const gzipInThread = promisify(gzip);

const threadedCompressors: Record<
  Coding,
  (bytes: Uint8Array<ArrayBuffer>, level: number) => Promise<Uint8Array>
> = {
  zstd: (bytes, level) => Bun.zstdCompress(bytes, { level }),
  br: (bytes, level) => brotliInThread(bytes, brotliOptions(level)),
  gzip: (bytes, level) => gzipInThread(bytes, { level }),
};
