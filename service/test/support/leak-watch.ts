// Watches a whole test run for leaked tokens. Searches output, logs, error responses, metrics and the process list for
// every issued token. Only the output of commands that issue a token is exempt, because they must print it.

import { appendFileSync, closeSync, existsSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseTokenKind } from '../../src/domain/access-token.ts';
import { temporaryFolder } from './databases.ts';

/** Length of the shortest piece of a token that counts as a leak. A chance match has a probability of 1 in 62¹². */
const PIECE_LENGTH = 12;
const PREFIX_LENGTH = 'ob_pub_'.length;
const HELD_CHARACTERS_MAX = 1 << 20;
const READ_BYTES = 1 << 20;
const LEAKS_LISTED_MAX = 10;
const TOKEN = /ob_(?:pub|prv)_[0-9A-Za-z]{36}/g;
const WORD = /[0-9A-Za-z]{12,}/g;

export class LeakWatch {
  readonly #pieces = new Set<string>();
  #path: string | undefined;
  #held = '';
  #outputCharacters = 0;

  /** Number of tokens and characters of output checked. */
  get seen(): { tokens: number; outputCharacters: number } {
    const piecesOfOne = TOKEN_BODY_LENGTH - PIECE_LENGTH + 1;
    return { tokens: this.#pieces.size / piecesOfOne, outputCharacters: this.#outputCharacters };
  }

  /** Adds a token that must not appear in any output, whether recorded before or after this call. */
  noteToken(text: string): void {
    for (const piece of piecesOf(text.slice(PREFIX_LENGTH))) this.#pieces.add(piece);
  }

  /** Adds all tokens in the output of a command that issues them. */
  noteTokensIn(text: string): void {
    for (const [token] of text.matchAll(TOKEN)) this.noteToken(token);
  }

  /** Records text that others than the token's owner may read; `what` names its origin. */
  noteOutput(what: string, text: string): void {
    this.#outputCharacters += text.length;
    this.#held += `${text.replaceAll('\n', `\n${what}: `)}\n`;
    if (this.#held.length > HELD_CHARACTERS_MAX) this.#writeOut();
  }

  /** Reports and then forgets each line of output that contains a token or a piece of one, without repeating the token. */
  findLeaks(): string[] {
    const path = this.#writeOut();
    const leaks: string[] = [];
    for (const line of linesOf(path)) {
      if (leaks.length < LEAKS_LISTED_MAX && this.#leaks(line))
        leaks.push(line.replaceAll(WORD, '…').slice(0, 300));
    }
    rmSync(path);
    this.#path = undefined;
    return leaks;
  }

  #leaks(line: string): boolean {
    for (const [word] of line.matchAll(WORD)) {
      for (const piece of piecesOf(word)) if (this.#pieces.has(piece)) return true;
    }
    // Also find tokens that no test registered: a valid checksum distinguishes them from forged ones.
    return [...line.matchAll(TOKEN)].some(([token]) => parseTokenKind(token) !== undefined);
  }

  #writeOut(): string {
    this.#path ??= join(temporaryFolder(), 'output.txt');
    appendFileSync(this.#path, this.#held);
    this.#held = '';
    return this.#path;
  }
}

const TOKEN_BODY_LENGTH = 36;

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at + PIECE_LENGTH <= text.length; at++) yield text.slice(at, at + PIECE_LENGTH);
}

/** Reads in chunks, because a whole run prints more than a string can hold. */
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

// Each test file may get its own copy of this module, but the process has only one watch.
const shared = globalThis as typeof globalThis & { offerbookLeakWatch?: LeakWatch };
shared.offerbookLeakWatch ??= new LeakWatch();

/** The watch of this test run. */
export const leakWatch = shared.offerbookLeakWatch;

/** Commands whose purpose is to print a token. */
function printsTokens(args: readonly string[]): boolean {
  return args[0] === 'sandbox' || (args[0] === 'tokens' && (args[1] === 'issue' || args[1] === 'rotate'));
}

interface Printing {
  readonly pid: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

/** Watches the arguments and output of a process, and returns the process. */
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

/** Records the command line of a process, which every user can read. Does nothing without /proc. */
export function watchProcessList(pid: number): void {
  const path = `/proc/${pid}/cmdline`;
  if (existsSync(path))
    leakWatch.noteOutput('process list', readFileSync(path, 'utf8').replaceAll('\0', ' '));
}

/** Joins the chunks before recording them, because a token may be split between two. */
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
