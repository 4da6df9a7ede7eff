// Watches a whole test run for leaked tokens: every token that was issued is held against everything that was
// printed, logged, answered as an error, measured or shown in the process list. Where a command issues a token
// it has to print it, and only that output is left out.

import { appendFileSync, closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { parseTokenKind } from '../../src/domain/access-token.ts';
import { temporaryFolder } from './databases.ts';

/** So many characters of a token in a row are taken for a leak; by chance it happens once in 62¹². */
const PIECE_LENGTH = 12;
const PREFIX_LENGTH = 'ob_pub_'.length;
const HELD_CHARACTERS_MAX = 1 << 20;
const READ_BYTES = 1 << 20;
const LEAKS_LISTED_MAX = 10;
const TOKEN = /ob_(?:pub|prv)_[0-9A-Za-z]{36}/g;
const WORD = /[0-9A-Za-z]{12,}/g;

export class LeakWatch {
  readonly #pieces = new Set<string>();
  readonly #path = join(temporaryFolder(), 'output.txt');
  #held = '';
  #outputCharacters = 0;

  /** How many tokens and characters of output were seen. */
  get seen(): { tokens: number; outputCharacters: number } {
    const piecesOfOne = TOKEN_BODY_LENGTH - PIECE_LENGTH + 1;
    return { tokens: this.#pieces.size / piecesOfOne, outputCharacters: this.#outputCharacters };
  }

  /** From now on, and looking back, no piece of this token may be in any output. */
  noteToken(text: string): void {
    for (const piece of piecesOf(text.slice(PREFIX_LENGTH))) this.#pieces.add(piece);
  }

  /** All tokens in the output of a command that issues them. */
  noteTokensIn(text: string): void {
    for (const [token] of text.matchAll(TOKEN)) this.noteToken(token);
  }

  /** Something that somebody other than the token's owner may read; `what` says where it stood. */
  noteOutput(what: string, text: string): void {
    this.#outputCharacters += text.length;
    this.#held += `${text.replaceAll('\n', `\n${what}: `)}\n`;
    if (this.#held.length > HELD_CHARACTERS_MAX) this.#writeOut();
  }

  /** One line for each line of output that has a token in it, or a piece of one; the token itself is not repeated. */
  findLeaks(): string[] {
    this.#writeOut();
    const leaks: string[] = [];
    for (const line of linesOf(this.#path)) {
      if (leaks.length < LEAKS_LISTED_MAX && this.#leaks(line))
        leaks.push(line.replaceAll(WORD, '…').slice(0, 300));
    }
    return leaks;
  }

  #leaks(line: string): boolean {
    for (const [word] of line.matchAll(WORD)) {
      for (const piece of piecesOf(word)) if (this.#pieces.has(piece)) return true;
    }
    // Also tokens that were issued where nobody noted them: the checksum tells them from made-up ones.
    return [...line.matchAll(TOKEN)].some(([token]) => parseTokenKind(token) !== undefined);
  }

  #writeOut(): void {
    appendFileSync(this.#path, this.#held);
    this.#held = '';
  }
}

const TOKEN_BODY_LENGTH = 36;

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at + PIECE_LENGTH <= text.length; at++) yield text.slice(at, at + PIECE_LENGTH);
}

/** Piece by piece, since a whole run prints more than a text can hold. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(READ_BYTES);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) {
      const lines = (rest + decoder.decode(buffer.subarray(0, length), { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    yield rest;
  } finally {
    closeSync(file);
  }
}

// Test files may each get their own copy of this module, but there is one watch for the process.
const shared = globalThis as typeof globalThis & { offerbookLeakWatch?: LeakWatch };
shared.offerbookLeakWatch ??= new LeakWatch();

/** The watch over this run. */
export const leakWatch = shared.offerbookLeakWatch;

/** Commands that print a token because they are asked to. */
function printsTokens(args: readonly string[]): boolean {
  return args[0] === 'sandbox' || (args[0] === 'tokens' && (args[1] === 'issue' || args[1] === 'rotate'));
}

interface Printing {
  readonly pid: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

/** Has the arguments and the output of a command watched, and hands the process on. */
export function watchCommand<Child extends Printing>(args: readonly string[], child: Child): Child {
  leakWatch.noteOutput('arguments', args.join(' '));
  const issued = printsTokens(args);
  const noteStdout = issued
    ? (text: string) => leakWatch.noteTokensIn(text)
    : (text: string) => leakWatch.noteOutput(`stdout of ${args[0]}`, text);
  watchStream(child, 'stdout', noteStdout);
  watchStream(child, 'stderr', (text) => leakWatch.noteOutput(`stderr of ${args[0]}`, text));
  return child;
}

/** What everybody on the machine can see of a process; nothing where the system does not tell. */
export function watchProcessList(pid: number): void {
  const path = `/proc/${pid}/cmdline`;
  if (existsSync(path))
    leakWatch.noteOutput('process list', readFileSync(path, 'utf8').replaceAll('\0', ' '));
}

/** Chunks are put together again before they are noted, because a token may be cut in two. */
function watchStream(child: Printing, name: 'stdout' | 'stderr', note: (text: string) => void): void {
  const decoder = new TextDecoder();
  let held = '';
  const watched = child[name].pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        held += decoder.decode(chunk, { stream: true });
        const end = held.lastIndexOf('\n') + 1;
        note(held.slice(0, end));
        held = held.slice(end);
        controller.enqueue(chunk);
      },
      flush: () => note(held),
    }),
  );
  Object.defineProperty(child, name, { value: watched });
}
