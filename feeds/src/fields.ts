// Reads the fields of one row of a network, whatever the format of its file was. What is wrong is noted with the path of
// the field, and reading goes on, so that a row tells all its problems at once. A value that stands in for one that could
// not be read is never seen: the row is refused.

import { type Amount, parseAmount, ZERO } from '@offerbook/wire/amount.ts';
import { type FieldProblem, isObject } from '@offerbook/wire/rows/raw-row.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { parseTime, type TimeReader } from './zoned-time.ts';

/** Where the text of an XML element stands that has attributes or children besides. */
export const XML_TEXT = '#text';
/** Stands in for a time that could not be read. */
export const NO_TIME = '1970-01-01T00:00:00' as Timestamp;

export class Fields {
  readonly problems: FieldProblem[];
  readonly #value: unknown;
  readonly #zone: string;
  readonly #prefix: string;

  /** The zone is that of times which do not tell theirs. */
  constructor(value: unknown, zone = 'UTC', problems: FieldProblem[] = [], prefix = '') {
    this.#value = value;
    this.#zone = zone;
    this.problems = problems;
    this.#prefix = prefix;
  }

  /** What stands at a path such as `clickRefs.clickRef`; null and the empty text count as nothing. */
  find(path: string): unknown {
    const value = at(this.#value, path);
    return value === null || value === '' ? undefined : value;
  }

  has(path: string): boolean {
    return this.find(path) !== undefined;
  }

  /** Whether a text is told that is none of these. */
  isOther(path: string, words: readonly string[]): boolean {
    const text = this.findText(path);
    return text !== undefined && !words.includes(text);
  }

  /** A text, or a number as its digits: ids come as either. The path '' is the value itself. */
  findText(path: string): string | undefined {
    const value = this.find(path);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
    if (isObject(value) && typeof value[XML_TEXT] === 'string') return value[XML_TEXT];
    this.fail(path, 'must be a text');
    return undefined;
  }

  text(path: string): string {
    return this.findText(path) ?? this.#missing(path, '');
  }

  findAmount(path: string, parse: (text: string) => Amount | undefined = parseAmount): Amount | undefined {
    const text = this.findText(path);
    if (text === undefined) return undefined;
    const amount = parse(text);
    if (amount === undefined) this.fail(path, `is ${quote(text)}, which is no decimal number`);
    return amount;
  }

  amount(path: string, parse?: (text: string) => Amount | undefined): Amount {
    return this.findAmount(path, parse) ?? this.#missing(path, ZERO);
  }

  findTime(path: string, read: TimeReader = parseTime): Timestamp | undefined {
    const text = this.findText(path);
    if (text === undefined) return undefined;
    const time = read(text, this.#zone);
    if (time === undefined) this.fail(path, `is ${quote(text)}, which is no time that can be read`);
    return time;
  }

  time(path: string, read?: TimeReader): Timestamp {
    return this.findTime(path, read) ?? this.#missing(path, NO_TIME);
  }

  /** What a word of the network means. One that is not in the table is a problem: it is not guessed at. */
  findWord<Meaning>(path: string, meanings: Readonly<Record<string, Meaning>>): Meaning | undefined {
    const text = this.findText(path);
    return text === undefined ? undefined : this.meaning(path, text, meanings);
  }

  protected meaning<Meaning>(
    path: string,
    text: string,
    meanings: Readonly<Record<string, Meaning>>,
  ): Meaning | undefined {
    if (Object.hasOwn(meanings, text)) return meanings[text];
    this.fail(path, `is ${quote(text)}, which is none of ${Object.keys(meanings).join(', ')}`);
    return undefined;
  }

  word<Meaning>(path: string, meanings: Readonly<Record<string, Meaning>>): Meaning | undefined {
    return this.findWord(path, meanings) ?? this.#missing(path, undefined);
  }

  /** The items of a list. A single one counts as a list of one: XML does not tell the two apart. */
  list(path: string): Fields[] {
    const value = this.find(path);
    if (value === undefined) return [];
    const items: unknown[] = Array.isArray(value) ? value : [value];
    const prefix = this.#prefix + path;
    return items.map((item, index) => new Fields(item, this.#zone, this.problems, `${prefix}[${index}].`));
  }

  /** The same fields, whose problems are noted apart from those of the row. */
  alone(): Fields {
    return new Fields(this.#value, this.#zone, [], this.#prefix);
  }

  fail(path: string, reason: string): void {
    this.problems.push({ field: (this.#prefix + path).replace(/\.$/, ''), reason });
  }

  /** A field that could not be read has been told; only one that is not there is missing. */
  #missing<Value>(path: string, standIn: Value): Value {
    if (!this.has(path)) this.fail(path, 'is missing');
    return standIn;
  }
}

/** A value of the file for a message: shortened, and without what a terminal would obey. */
export function quote(text: string): string {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return JSON.stringify(shown.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}'));
}

/** What the dots of a path lead to, or else the field of that very name: columns of tables may have dots in theirs. */
function at(value: unknown, path: string): unknown {
  if (path === '') return value;
  const names = path.split('.');
  let found = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  if (found === undefined && names.length > 1 && isObject(value) && Object.hasOwn(value, path))
    return value[path];
  return found;
}

/** A whole number that came as one, or as its digits. */
export function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'number' || /^\d+$/.test(String(value)) ? Number(value) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}
