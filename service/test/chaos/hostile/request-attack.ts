// Sends hostile requests to a node, one after the other. Checks that each response is not a server error, matches the OpenAPI
// document, and has the right status for the request.

import { parseHostname } from '@offerbook/wire/hostname.ts';
import { parseUuid } from '@offerbook/wire/uuid.ts';
import fc from 'fast-check';
import { newTokenText, type TokenKind } from '../../../src/domain/access-token.ts';
import { openApiDocument } from '../../../src/http/openapi/openapi-document.ts';
import { OPERATIONS } from '../../../src/http/operations/operations.ts';
import { printName } from '../../../src/http/operations/query.ts';
import {
  type Answer,
  answerProblems,
  problemProblems,
  schemaProblems,
} from '../../support/documented-answers.ts';
import { coupon, offer, promotion, retailer, transaction } from '../../support/fixtures.ts';
import { TestNode } from '../../support/test-node.ts';
import type { Run } from '../report/run.ts';
import { HttpConnection, type Outcome } from '../traffic/http-connection.ts';
import {
  anyRequest,
  type Credentials,
  type HostileRequest,
  isWellFormed,
  printRequest,
} from './any-request.ts';
import type { Extent } from './file-outcomes.ts';
import { keptConnection, printOutcome } from './kept-connection.ts';

const URL_LENGTH_MAX = 16 * 1024;
/** Statuses that occur in an attack of this size, because requests reach the service itself, not only Bun's parser. */
const USUAL_STATUSES = [200, 204, 304, 400, 401, 403, 404, 405, 414];
const USUAL_FROM = 2_000;
const document = openApiDocument();

export async function attackWithRequests(run: Run, extent: Extent): Promise<void> {
  // Only failed authentications can reach their limit, so that responses of every kind occur.
  const settings = {
    rateLimitPublic: 1e9,
    rateLimitPrivate: 1e9,
    rateLimitFailedAuth: 2_000,
    logLevel: 'info',
  } as const;
  await using node = await TestNode.start({ databaseUrl: await run.database.create(), settings });
  const tokens = await fillNode(node);
  using connection = keptConnection(node.url);
  await fc.assert(
    fc.asyncProperty(anyRequest, async (request) => {
      const bytes = printRequest(request, authorizationOf(request, tokens));
      // Malformed bytes may be read as no request, or as two. Only the first outcome counts.
      using separate = isWellFormed(request) ? undefined : await HttpConnection.open(node.url);
      const outcome = await (separate?.exchange(bytes, request.method, 'any') ??
        connection.send(bytes, request.method));
      run.count('requests');
      const problems = outcomeProblems(request, outcome);
      if (outcome.kind === 'answer') run.count(`status ${outcome.answer.status}`);
      else run.count('requests that are not HTTP, rejected by Bun');
      if (problems.length > 0)
        throw new Error(
          [bytes.toString('latin1').slice(0, 2_000), printOutcome(outcome), ...problems].join('\n'),
        );
    }),
    extent,
  );
  if ((await node.get('/livez')).status !== 200) throw new Error('the node is no longer live');
  requireCleanLog(node.logLines);
  const missing = USUAL_STATUSES.filter((status) => run.counts[`status ${status}`] === undefined);
  if ((run.counts.requests ?? 0) >= USUAL_FROM)
    run.require('every usual status must occur', missing.length === 0, missing);
}

/** Stores items for every list, and returns a token of each kind. */
async function fillNode(node: TestNode): Promise<Record<TokenKind, string>> {
  const numbers = Array.from({ length: 30 }, (_, n) => n + 1);
  await node.catalogue(
    numbers.map((n) =>
      retailer(n, {
        name: `Café "${n}" <b>`,
        cashbackOffers: [offer(100 + n)],
        coupons: [coupon(200 + n)],
        promotions: [promotion(300 + n)],
      }),
    ),
  );
  await node.transactions(numbers.map((n) => transaction(n)));
  return { public: await node.token('public'), private: await node.token('private') };
}

function authorizationOf(
  { target, credentials }: HostileRequest,
  tokens: Record<TokenKind, string>,
): string | undefined {
  if (typeof credentials === 'object') return credentials.text;
  const kind = target.includes('/v1/transactions') ? 'private' : 'public';
  const texts: Record<Exclude<Credentials, object | 'none'>, string> = {
    right: tokens[kind],
    'wrong kind': tokens[kind === 'public' ? 'private' : 'public'],
    unknown: newTokenText(kind),
  };
  return credentials === 'none' ? undefined : `Bearer ${texts[credentials]}`;
}

function requireCleanLog(logLines: readonly string[]): void {
  for (const line of logLines) {
    const { level, msg } = JSON.parse(line) as { level: number; msg?: string };
    if (level >= 50) throw new Error(`an error in the log: ${line}`);
    if (line.trimEnd().includes('\n')) throw new Error(`a log line of two lines: ${line}`);
    if (msg?.includes('X-Injected')) throw new Error(`a forged log line: ${line}`);
  }
}

function outcomeProblems(request: HostileRequest, outcome: Outcome): string[] {
  if (outcome.kind !== 'answer')
    return isWellFormed(request) ? ['a well-formed request was refused by the parser'] : [];
  const { answer } = outcome;
  if (answer.status >= 500) return [`status ${answer.status}`];
  if (answer.headers.has('X-Injected')) return ['a header was injected'];
  // Responses for shared caches have no Request-Id, because a cache would send it to other clients.
  const isShared = answer.headers.get('Cache-Control')?.startsWith('public') === true;
  if ((answer.headers.get('Request-Id') === null) !== isShared)
    return ['Request-Id is missing, or present in a response for shared caches'];
  const path = operationPath(request.target);
  // It is unspecified how a malformed request is interpreted, but the response must be well-formed.
  if (path === undefined || !isWellFormed(request)) return generalProblems(request, answer);
  if (answer.status === 204) return request.method === 'OPTIONS' ? [] : ['a 204'];
  return [...answerProblems(path, answer, request.method), ...deservedProblems(request, path, answer)];
}

function generalProblems({ method }: HostileRequest, answer: Answer): string[] {
  if (answer.status < 400 || method === 'HEAD') return [];
  if (answer.headers.get('Content-Type') !== 'application/problem+json')
    return ['an error that is not a problem document'];
  const value = JSON.parse(answer.body) as { status?: unknown };
  const problems = problemProblems(value);
  return value.status === answer.status ? problems : [...problems, 'a problem with another status'];
}

/** Ids that no URL parser changes. `activate` is another path. */
const CLEAR_ID = /^(?!activate$)[\w-]+$/;
const LISTED = OPERATIONS.map(({ path }) => {
  const [list = '', ofItem] = path.split('{id}');
  return { path, list, isItem: ofItem !== undefined };
});

/** The operation that a target names; undefined if that is ambiguous. */
function operationPath(target: string): string | undefined {
  const [path = ''] = target.split('?', 1);
  const named = path.endsWith('/') ? path : `${path}/`;
  return LISTED.find(({ list, isItem }) =>
    isItem ? named === `${list}${idIn(named)}/` && CLEAR_ID.test(idIn(named)) : named === list,
  )?.path;
}

/** The last segment of a path. */
function idIn(path: string): string {
  return path.replace(/\/$/, '').split('/').at(-1) ?? '';
}

/** Compares the response with the document's rules for the parameters. */
function deservedProblems(request: HostileRequest, path: string, answer: Answer): string[] {
  const { method, target, credentials, headers } = request;
  if (headers.some(([name, value]) => name === 'Host' && value.includes(',')))
    return expectStatus(answer, 400);
  const at = target.indexOf('?');
  const search = at < 0 ? '' : target.slice(at + 1);
  // If a URL contains bytes that URLs do not allow, Bun decodes or encodes them, so its length is not known here.
  const isOfClearLength = /^[\w/?&=.%-]*$/.test(target) || target.length * 9 <= URL_LENGTH_MAX;
  if (!isOfClearLength) return [];
  if (target.length > URL_LENGTH_MAX) return expectStatus(answer, 414);
  if (method !== 'GET' && method !== 'HEAD') return expectStatus(answer, 405, 404);
  if (credentials !== 'right') return expectStatus(answer, 401, 403, 429);
  if (headers.some(([name]) => name === 'Origin') && path.includes('transactions'))
    return expectStatus(answer, 403, 429);
  const isItem = path.includes('{id}');
  if (isItem && parseUuid(idIn(target.split('?', 1)[0] ?? '')) === undefined)
    return expectStatus(answer, 400);
  const bad = badParameters(path, search);
  if (bad === undefined) return [];
  if (bad.length > 0) {
    if (answer.status !== 400) return [`status ${answer.status}, although ${bad} is bad`];
    if (method === 'HEAD') return [];
    const named = (JSON.parse(answer.body) as { errors: { parameter: string }[] }).errors.map(
      (it) => it.parameter,
    );
    return named.join() === bad.join() ? [] : [`names ${named} where ${bad} is bad`];
  }
  return isItem ? expectStatus(answer, 200, 304, 404) : expectStatus(answer, 200, 304);
}

function expectStatus({ status }: Answer, ...allowed: readonly number[]): string[] {
  return allowed.includes(status) ? [] : [`status ${status} where ${allowed.join(' or ')} was due`];
}

/** The names of the parameters whose values the document does not allow; undefined if the document does not say. */
function badParameters(path: string, search: string): string[] | undefined {
  const given = new URLSearchParams(Buffer.from(search, 'latin1').toString());
  const bad: string[] = [];
  const parameters = (document.paths[path]?.get.parameters ?? []).filter((one) => one.in === 'query');
  for (const { name, schema } of parameters) {
    const values = given.getAll(name);
    const [value = ''] = values;
    if (values.length === 0) continue;
    if (values.length > 1) bad.push(name);
    else if (value === '' && (name === 'name' || name === 'category' || name === 'country')) continue;
    else if (value === '') bad.push(name);
    // The document does not say which strings are dates, or whether 007 is a number.
    else if ([...value].length <= 200 && (name.startsWith('updatedAt') || /^0\d/.test(value)))
      return undefined;
    // The schema counts characters; the description limits the bytes in UTF-8 and excludes control characters.
    else if (name === 'passbackUid' && (Buffer.byteLength(value) > 255 || /[\p{Cc}\uFFFD]/u.test(value)))
      bad.push(name);
    // UK and EL are not the ISO codes of the United Kingdom and Greece.
    else if (name === 'country' && /^(uk|el)$/i.test(value)) bad.push(name);
    else if (name === 'hostname' && parseHostname(value) === undefined) bad.push(name);
    else if (schemaProblems(schema, schema.type === 'integer' ? toInteger(value) : value).length > 0)
      bad.push(name);
  }
  const known = parameters.map(({ name }) => name);
  const unknown = new Set([...given.keys()].filter((name) => !known.includes(name) && !name.startsWith('_')));
  return [...bad, ...[...unknown].slice(0, 10).map(printName)];
}

function toInteger(value: string): number | string {
  return /^(0|-?[1-9]\d*)$/.test(value) ? Number(value) : value;
}
