// Typed access to the fields of one row, regardless of the file format. Problems are collected, so that all problems of a row
// are reported together. An invalid value is replaced by a placeholder, which is never output because the row is rejected.

import { type Amount, parseAmount, ZERO } from '@offerbook/wire/amount.ts';
import { type FieldProblem, isObject } from '@offerbook/wire/rows/raw-row.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import { parseTime, type TimeReader } from './zoned-time.ts';

/** Key for the text of an XML element that also has attributes or children. */
export const XML_TEXT = '#text';
const INVALID_TIME = '1970-01-01T00:00:00' as Timestamp;

export class Fields {
  readonly problems: FieldProblem[];
  readonly #value: unknown;
  readonly #zone: string;
  readonly #prefix: string;

  /** `zone` applies to times without a zone; `prefix` is the path of the value inside the row. */
  constructor(value: unknown, zone = 'UTC', problems: FieldProblem[] = [], prefix = '') {
    this.#value = value;
    this.#zone = zone;
    this.problems = problems;
    this.#prefix = prefix;
  }

  /** Value at a path such as `clickRefs.clickRef`; undefined for null and the empty string. */
  find(path: string): unknown {
    const value = at(this.#value, path);
    return value === null || value === '' ? undefined : value;
  }

  has(path: string): boolean {
    return this.find(path) !== undefined;
  }

  /** True if the field has a value that is not in the list. */
  isOther(path: string, values: readonly string[]): boolean {
    const text = this.findText(path);
    return text !== undefined && !values.includes(text);
  }

  /** Also accepts numbers, because networks send ids as strings or numbers. The path '' refers to the value itself. */
  findText(path: string): string | undefined {
    const value = this.find(path);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return String(value);
    if (isObject(value) && typeof value[XML_TEXT] === 'string') return value[XML_TEXT];
    this.fail(path, 'must be a string');
    return undefined;
  }

  text(path: string): string {
    return this.findText(path) ?? this.#missing(path, '');
  }

  /** Accepts a number or a string of digits; returns undefined for anything else. */
  findWholeNumber(path: string): number | undefined {
    const value = this.find(path);
    const number = typeof value === 'number' || /^\d+$/.test(String(value)) ? Number(value) : undefined;
    return Number.isSafeInteger(number) ? number : undefined;
  }

  findAmount(path: string, parse: (text: string) => Amount | undefined = parseAmount): Amount | undefined {
    const text = this.findText(path);
    if (text === undefined) return undefined;
    const amount = parse(text);
    if (amount === undefined) this.fail(path, `is ${quote(text)}, which is not a decimal number`);
    return amount;
  }

  amount(path: string, parse?: (text: string) => Amount | undefined): Amount {
    return this.findAmount(path, parse) ?? this.#missing(path, ZERO);
  }

  findTime(path: string, read: TimeReader = parseTime): Timestamp | undefined {
    const text = this.findText(path);
    if (text === undefined) return undefined;
    const time = read(text, this.#zone);
    if (time === undefined) this.fail(path, `is ${quote(text)}, which is not a recognised time`);
    return time;
  }

  time(path: string, read?: TimeReader): Timestamp {
    return this.findTime(path, read) ?? this.#missing(path, INVALID_TIME);
  }

  /** Maps the network's value to ours. A value that is not in `meanings` is reported as a problem. */
  findMeaning<Meaning>(path: string, meanings: Readonly<Record<string, Meaning>>): Meaning | undefined {
    const text = this.findText(path);
    return text === undefined ? undefined : this.translate(path, text, meanings);
  }

  meaning<Meaning>(path: string, meanings: Readonly<Record<string, Meaning>>): Meaning | undefined {
    return this.findMeaning(path, meanings) ?? this.#missing(path, undefined);
  }

  protected translate<Meaning>(
    path: string,
    text: string,
    meanings: Readonly<Record<string, Meaning>>,
  ): Meaning | undefined {
    if (Object.hasOwn(meanings, text)) return meanings[text];
    this.fail(path, `is ${quote(text)}, expected one of ${Object.keys(meanings).join(', ')}`);
    return undefined;
  }

  /** Returns the items of a list. A single value counts as a list, because in XML it looks like a list with one item. */
  list(path: string): Fields[] {
    const value = this.find(path);
    if (value === undefined) return [];
    const items: unknown[] = Array.isArray(value) ? value : [value];
    const prefix = this.#prefix + path;
    return items.map((item, index) => new Fields(item, this.#zone, this.problems, `${prefix}[${index}].`));
  }

  /** Returns a copy of these fields that collects problems in its own list. */
  separate(): Fields {
    return new Fields(this.#value, this.#zone, [], this.#prefix);
  }

  fail(path: string, reason: string): void {
    this.problems.push({ field: (this.#prefix + path).replace(/\.$/, ''), reason });
  }

  /** Reports a missing field. An invalid field has already been reported. */
  #missing<Value>(path: string, placeholder: Value): Value {
    if (!this.has(path)) this.fail(path, 'is missing');
    return placeholder;
  }
}

/** Quotes a value from the file for a message: shortened, without control characters. */
export function quote(text: string): string {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return JSON.stringify(shown.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{fffd}'));
}

/**
 * Returns the value at a dotted path. Falls back to a field with exactly that name, because CSV column names can contain
 * dots.
 */
function at(value: unknown, path: string): unknown {
  if (path === '') return value;
  let found = value;
  for (const name of path.split('.')) found = ownField(found, name);
  return found ?? ownField(value, path);
}

function ownField(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
