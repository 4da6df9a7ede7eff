// Schemas for the scalars of the wire format. The schemas validate input, convert it to its canonical form, and contain the
// descriptions for the OpenAPI document.

import { z } from 'zod';
import { canonicalText, withCanonicalForm } from './canonical-form.ts';
import { printCount } from './count.ts';
import { DIGITS_MAX, isExactDecimal } from './decimal.ts';
import {
  COUNTRY_CODE,
  mistakenCountry,
  PASSBACK_UID_BYTES_MAX,
  passbackUidProblem,
  TEXT_LENGTH_MAX,
  textProblem,
} from './text.ts';
import { CANONICAL_TIMESTAMP, dateTimeProblem, parseTimestamp, type Timestamp } from './timestamp.ts';
import { CANONICAL_UUID_PATTERN, UUID_PATTERN, type Uuid } from './uuid.ts';

/** Builds the message for an invalid value: "is missing" or "must be …". */
function expected(what: string) {
  return (issue: { input?: unknown }) => (issue.input === undefined ? 'is missing' : `must be ${what}`);
}

/** Messages for a value that is not an object or has unknown fields. */
export const OBJECT = {
  error: (issue: { code?: string; input?: unknown; keys?: readonly string[] }) =>
    issue.code === 'unrecognized_keys'
      ? `has ${(issue.keys ?? []).length === 1 ? 'an unknown field' : 'unknown fields'}: ${(issue.keys ?? []).join(', ')}`
      : expected('a JSON object')(issue),
};

export const LIST = { error: expected('a list') };

/** Checks the length before the items, because every invalid item produces a problem. */
export function listOf<Item extends z.ZodType>(item: Item, itemsMax: number) {
  return z
    .array(z.unknown(), LIST)
    .max(itemsMax, `must have at most ${printCount(itemsMax)} items`)
    .pipe(z.array(item));
}

/** Returns a check that reports what `find` returns. */
export function problemCheck<Value>(find: (value: Value) => string | undefined) {
  return (payload: z.core.ParsePayload<Value>) => {
    const message = find(payload.value);
    if (message !== undefined) payload.issues.push({ code: 'custom', message, input: payload.value });
  };
}

/** Returns a check that replaces the value by its parsed form; `problem` describes a value that cannot be parsed. */
export function parsedBy(parse: (text: string) => string | undefined, problem: (text: string) => string) {
  const report = problemCheck(problem);
  return (payload: z.core.ParsePayload<string>) => {
    const parsed = parse(payload.value);
    if (parsed === undefined) report(payload);
    else payload.value = parsed;
  };
}

function anyText(what: string) {
  return z
    .string({ error: expected(what) })
    .max(TEXT_LENGTH_MAX, `must have at most ${printCount(TEXT_LENGTH_MAX)} characters`)
    .check(problemCheck(textProblem));
}

export function text(description: string, example: string) {
  return withCanonicalForm(anyText('a string').meta({ description, examples: [example] }), {
    test: isText,
    // Without characters that JSON escapes.
    json: '"([^"\\\\\\x00-\\x1f]*)"',
  });
}

/** A partner's id for a user, valid under the same rule as in activation links and filters. An empty id becomes null. */
export function passbackUid(description: string, example: string) {
  const schema = z.string({ error: expected('a string') }).check(
    problemCheck(passbackUidProblem),
    z.overwrite((value) => (value === '' ? (null as never) : value)),
  );
  return withCanonicalForm(schema.meta({ description, examples: [example] }), {
    // Without characters that JSON escapes, and short enough in any script.
    json: `"([^"\\\\\\x00-\\x1f\\x7f-\\x9f\\ufffd]{1,${PASSBACK_UID_BYTES_MAX / 3}})"`,
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX && textProblem(value) === undefined;
}

/** A string that import files can omit. */
export function optionalText(description: string, example: string) {
  return withCanonicalForm(text(description, example).default(''), { test: isText });
}

export function filledText(description: string, example: string) {
  return anyText('a string')
    .min(1, 'must not be empty')
    .meta({ description, examples: [example] });
}

export function uuid(description: string, example: string) {
  const schema = z
    .string({ error: expected('a UUID') })
    .regex(UUID_PATTERN, 'must be a UUID')
    .overwrite((value) => value.toLowerCase())
    .meta({ description, format: 'uuid', pattern: undefined, examples: [example] });
  return withCanonicalForm(
    schema as unknown as z.ZodType<Uuid, string>,
    canonicalText(CANONICAL_UUID_PATTERN),
  );
}

export function timestamp(description: string, example: string) {
  const schema = z
    .string({ error: expected('a date-time') })
    .check(parsedBy(parseTimestamp, dateTimeProblem))
    .meta({ description, format: 'date-time-local', examples: [example] });
  return withCanonicalForm(
    schema as unknown as z.ZodType<Timestamp, string>,
    canonicalText(CANONICAL_TIMESTAMP),
  );
}

/**
 * Accepts what browsers accept, because retailers use characters that RFC 3986 does not allow. Has no `format`: generated clients
 * parse a `uri` strictly and would fail on such URLs.
 */
export function webUrl(what: string, example: string) {
  const description = `${what}, as browsers accept it: it may contain characters that RFC 3986 does not allow, such as |`;
  return withCanonicalForm(
    anyText('a URL')
      .refine(isWebUrl, 'must be a URL that starts with http:// or https://')
      .refine(hasNoCredentials, 'must not contain a user name or password')
      .meta({ description, examples: [example] }),
    { test: (value) => isText(value) && isWebUrl(value) && hasNoCredentials(value) },
  );
}

export function flag(description: string, example: boolean) {
  return withCanonicalForm(
    z.boolean({ error: expected('true or false') }).meta({ description, examples: [example] }),
    { test: (value) => typeof value === 'boolean' },
  );
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: expected(`one of ${words.join(', ')}`) });
}

export function countryCode(description: string, example: string) {
  const message = 'must be a country code of two capital letters (ISO 3166-1 alpha-2)';
  const problem = (text: unknown) => mistakenCountry(String(text)) ?? message;
  return code(COUNTRY_CODE, 'a country code', problem, {
    description,
    examples: [example],
    pattern: '^[A-Z]{2}$',
  });
}

export function currencyCode(description: string, example: string) {
  const message = 'must be a currency code of three capital letters (ISO 4217)';
  return code(/^[A-Z]{3}$/, 'a currency code', () => message, { description, examples: [example] });
}

function code(
  pattern: RegExp,
  name: string,
  problem: (text: unknown) => string,
  meta: { description: string; examples: string[]; pattern?: string },
) {
  return withCanonicalForm(
    z
      .string({ error: expected(name) })
      .regex(pattern, { error: ({ input }) => problem(input) })
      .meta(meta),
    canonicalText(pattern),
  );
}

export function money(description: string, example: number) {
  return withCanonicalForm(
    exactNumber()
      .min(0, 'must not be negative')
      .meta({ description, examples: [example] }),
    {
      test: (value) => typeof value === 'number' && value >= 0 && isExactDecimal(value),
      // Short enough to be exact, and without zeros that JSON.stringify would omit.
      json: '((?:0|[1-9]\\d{0,10})(?:\\.\\d{0,3}[1-9])?)',
    },
  );
}

export function fraction(description: string, example: number) {
  return withCanonicalForm(
    exactNumber()
      .min(0, 'must be between 0 and 1')
      .max(1, 'must be between 0 and 1')
      .meta({ description, examples: [example] }),
    { test: (value) => typeof value === 'number' && value >= 0 && value <= 1 && isExactDecimal(value) },
  );
}

function exactNumber() {
  const tooLong = `must have at most ${DIGITS_MAX} significant digits, and at most ${DIGITS_MAX} on either side of the decimal point`;
  return z
    .number({
      error: (issue) =>
        issue.input === Number.POSITIVE_INFINITY || issue.input === Number.NEGATIVE_INFINITY
          ? tooLong
          : expected('a number')(issue),
    })
    .refine(isExactDecimal, tooLong);
}

function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}]+$/iu.test(value) && URL.canParse(value);
}

/** People would mistake the part before the @ for the host. */
function hasNoCredentials(value: string): boolean {
  return !/^https?:[/\\]*[^/\\?#]*@/i.test(value);
}
