// Sources of import data: a file, standard input, or memory. Compressed input (gzip, zstd) is recognised by its first bytes
// and decompressed as a stream.

import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { ReadableStream } from 'node:stream/web';
import { BadInput } from '../failures.ts';
import { peek } from './peek.ts';

const CHUNK_BYTES = 256 * 1024;

/** Opens a file, or standard input when the path is `-`. */
export async function openSource(pathOrDash: string): Promise<ImportSource> {
  if (pathOrDash === '-') return new ImportSource('standard input', undefined, Bun.stdin.stream());
  try {
    // Do not open the file yet, because a named pipe must not be opened twice.
    const info = await stat(pathOrDash);
    if (info.isDirectory()) throw new BadInput(`${pathOrDash} is a directory, not a file`);
    await access(pathOrDash, constants.R_OK);
    return new ImportSource(pathOrDash, info.isFile() ? info.size : undefined, fileChunks(pathOrDash));
  } catch (error) {
    throw readError(pathOrDash, error);
  }
}

/** Returns a source for data in memory or an existing stream. */
export function sourceFrom(
  content: string | Uint8Array | AsyncIterable<Uint8Array>,
  name = 'the input',
): ImportSource {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
    return new ImportSource(name, undefined, content);
  }
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return new ImportSource(name, bytes.length, memoryChunks(bytes));
}

export class ImportSource {
  /** Name for messages. */
  readonly name: string;
  /** Size before decompression; undefined if unknown. */
  readonly bytesTotal: number | undefined;
  /** Bytes read so far, before decompression. */
  bytesRead = 0;
  /** SHA-256 before decompression; null until everything has been read. */
  digest: string | null = null;
  readonly #packed: AsyncIterable<Uint8Array>;

  constructor(name: string, bytesTotal: number | undefined, packed: AsyncIterable<Uint8Array>) {
    this.name = name;
    this.bytesTotal = bytesTotal;
    this.#packed = packed;
  }

  /** Returns the decompressed bytes. Call it only once. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    const { head, all } = await peek(this.#counted(), 4);
    const format = packedFormat(head);
    if (format === undefined) yield* all;
    else yield* unpack(all, format, this.name);
  }

  async *#counted(): AsyncGenerator<Uint8Array> {
    const hasher = new Bun.CryptoHasher('sha256');
    try {
      for await (const chunk of this.#packed) {
        this.bytesRead += chunk.length;
        hasher.update(chunk);
        yield chunk;
      }
      this.digest = hasher.digest('hex');
    } catch (error) {
      throw readError(this.name, error);
    }
  }
}

type PackedFormat = 'gzip' | 'zstd';

function packedFormat(head: Uint8Array): PackedFormat | undefined {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd) return 'zstd';
  return undefined;
}

/** Uses DecompressionStream, because node:zlib accepts truncated zstd. */
async function* unpack(
  packed: AsyncGenerator<Uint8Array>,
  format: PackedFormat,
  name: string,
): AsyncGenerator<Uint8Array> {
  try {
    // The cast is safe: no chunk is in shared memory.
    const bytes = packed as AsyncGenerator<Uint8Array<ArrayBuffer> | ArrayBuffer>;
    yield* ReadableStream.from(bytes).pipeThrough(new DecompressionStream(format));
  } catch (error) {
    if (error instanceof BadInput) throw error;
    throw new BadInput(`${name} cannot be decompressed: its ${format} data is damaged or truncated`, {
      cause: error,
    });
  }
}

async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

async function* memoryChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

function readError(name: string, error: unknown): Error {
  if (error instanceof BadInput) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const reason = READ_ERRORS[code ?? ''] ?? `cannot be read${code === undefined ? '' : ` (${code})`}`;
  return new BadInput(`${name} ${reason}`, { cause: error });
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a directory, not a file',
  EACCES: 'is not readable by this user',
  EPERM: 'is not readable by this user',
};
