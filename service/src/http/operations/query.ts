// Parses query strings. A single error lists every parameter that is invalid, missing or unknown: ignoring `?userId=alice`
// would return the transactions of all users.

import { parseUuid, type Uuid } from '@offerbook/wire/uuid.ts';
import { ApiError, type ParameterError } from '../../domain/api-errors.ts';
import type { PathParameters } from '../exchange.ts';
import {
  PARAMETERS,
  type Parameter,
  type ParameterName,
  type Reader,
  VALUE_LENGTH_MAX,
} from './parameters.ts';

type Value<Name extends ParameterName> =
  (typeof PARAMETERS)[Name]['read'] extends Reader<infer T> ? T : never;
type Query<Name extends ParameterName> = { readonly [N in Name]?: Value<N> };

interface QueryOptions<Required> {
  readonly required?: readonly Required[];
  /** True for links that people follow, because mail programs and social networks append parameters to them. */
  readonly ignoresUnknown?: boolean;
}

const UNKNOWN_MAX = 10;
const NAME_LENGTH_MAX = 40;
const TOKEN = /ob_(pub|prv)_/i;
const TOKEN_NAME = /^(api|access|auth)?[_-]?(token|key)$|^(authorization|bearer)$/i;

/**
 * Parses a query string without its question mark. Throws ApiError if a parameter is invalid, missing or unknown. Names that
 * begin with an underscore are ignored: libraries add them to bypass caches.
 */
export function parseQuery<Name extends ParameterName, Required extends Name = never>(
  search: string,
  names: readonly Name[],
  { required = [], ignoresUnknown = false }: QueryOptions<Required> = {},
): Query<Name> & { readonly [N in Required]: Value<N> } {
  const given = new URLSearchParams(search);
  const values: Record<string, unknown> = {};
  const errors: ParameterError[] = [];
  for (const name of names) {
    const all = given.getAll(name);
    const [value] = all;
    if (value === undefined) {
      if ((required as readonly ParameterName[]).includes(name))
        errors.push({ parameter: name, detail: 'is missing' });
      continue;
    }
    const result = readParameter(PARAMETERS[name], value, all.length);
    if (result === undefined) continue;
    if ('detail' in result) errors.push({ parameter: name, detail: result.detail });
    else values[name] = result.value;
  }
  const unknown = ignoresUnknown ? [] : unknownParameters(given, names);
  if (errors.length > 0 || unknown.length > 0)
    throw invalidParameters([...errors, ...unknown], unknown.length > 0 ? names : undefined);
  return values as never;
}

/** Parses the id in a path. Throws ApiError if it is not a UUID. */
export function parsePathId({ id = '' }: PathParameters): Uuid {
  const uuid = parseUuid(id);
  if (uuid === undefined) throw invalidParameters([{ parameter: 'id', detail: 'must be a UUID' }]);
  return uuid;
}

/** True if a query string seems to contain an access token. */
export function hasToken(search: string): boolean {
  return [...new URLSearchParams(search)].some(([name, value]) => isToken(name, value));
}

function isToken(name: string, value: string): boolean {
  return TOKEN.test(name) || TOKEN.test(value) || TOKEN_NAME.test(name);
}

function unknownParameters(given: URLSearchParams, names: readonly string[]): ParameterError[] {
  const unknown = [...given.keys()].filter((name) => !names.includes(name) && !name.startsWith('_'));
  return [...new Set(unknown)].slice(0, UNKNOWN_MAX).map((name) => ({
    parameter: printName(name),
    detail: given.getAll(name).some((value) => isToken(name, value))
      ? 'must not be in the query string; send the token as "Authorization: Bearer <token>"'
      : 'is not a parameter',
  }));
}

/** Returns a client's name for an error: short, without control or direction characters, and without a token. */
export function printName(name: string): string {
  if (name === '') return '(empty)';
  const token = TOKEN.exec(name);
  const shown = token === null ? name : name.slice(0, token.index + token[0].length);
  const visible = shown.slice(0, NAME_LENGTH_MAX).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return shown.length > NAME_LENGTH_MAX || token !== null ? `${visible}…` : visible;
}

/** `known` are the operation's parameters, listed if the client sent an unknown one. */
function invalidParameters(errors: readonly ParameterError[], known?: readonly string[]): ApiError {
  const detail = `${errors.map(({ parameter, detail }) => `${parameter} ${detail}`).join('; ')}.`;
  if (known === undefined) return new ApiError('invalid_parameter', detail, { errors });
  const names =
    known.length === 0
      ? 'This operation has no parameters.'
      : `This operation's parameters are ${known.join(', ')}.`;
  return new ApiError('invalid_parameter', `${detail} ${names}`, { errors });
}

function readParameter({ read, schema, isTrimmed, mayBeEmpty }: Parameter, given: string, times: number) {
  if (times > 1) return { detail: 'must be given only once' };
  const { maxLength = VALUE_LENGTH_MAX } = schema;
  // As in JSON Schema, the limit is a number of code points. The first check is cheap, and is enough for nearly all values.
  if (given.length > maxLength && [...given].length > maxLength)
    return { detail: `must not be longer than ${maxLength} characters` };
  const value = isTrimmed ? given.trim() : given;
  if (value !== '') return read(value);
  return mayBeEmpty ? undefined : { detail: 'must not be empty' };
}
