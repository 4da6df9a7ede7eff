// Requests to a fake network and its answers, before they are sent.

import { DAY_MS, SECOND_MS } from '@offerbook/wire/time.ts';
import { printSecond } from '../wire.ts';
import type { NetworkName } from './accounts.ts';
import type { Fault } from './faults.ts';

export interface NetworkRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string;
  readonly nowMs: number;
  readonly fault: Fault | undefined;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Rate {
  /** Routes with the same name share a budget. */
  readonly name: string;
  readonly requests: number;
  readonly perMs: number;
}

export interface NetworkRoute {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly rate: Rate;
  /** `parts` are the groups of `path`. */
  answer(request: NetworkRequest, ...parts: string[]): Answer;
}

export interface FakeNetwork {
  readonly name: NetworkName;
  readonly routes: readonly NetworkRoute[];
  /** Returns the network's error if the credentials are wrong. */
  refuse(request: NetworkRequest): Answer | undefined;
  /** The network's response to a request above the rate limit. */
  tooMany(waitMs: number, rate: Rate): Answer;
  /** Rate headers of successful answers, if the network sends any. */
  rateHeaders?(left: number, waitMs: number, rate: Rate): Record<string, string>;
}

/** A route for GET requests. */
export function get(path: RegExp, rate: Rate, answer: NetworkRoute['answer']): NetworkRoute {
  return { method: 'GET', path, rate, answer };
}

export function post(path: RegExp, rate: Rate, answer: NetworkRoute['answer']): NetworkRoute {
  return { method: 'POST', path, rate, answer };
}

/** The rate headers of impact.com and Partnerize. */
export function rateHeaders(left: number, waitMs: number, { requests }: Rate): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(requests),
    'X-RateLimit-Remaining': String(left),
    'X-RateLimit-Reset': String(Math.ceil(waitMs / SECOND_MS)),
  };
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, body: JSON.stringify(value), headers: { 'Content-Type': 'application/json', ...headers } };
}

export function xml(body: string, status = 200): Answer {
  return {
    status,
    body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
    headers: { 'Content-Type': 'application/xml' },
  };
}

export function acceptsJson({ headers }: NetworkRequest): boolean {
  return headers.get('Accept')?.includes('application/json') === true;
}

export interface Window {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
}

export function isIn({ fromMs, toMs }: Window, ms: number | undefined): boolean {
  return ms !== undefined && fromMs <= ms && ms < toMs;
}

/** Calendar days in UTC that the window touches. */
export function daysOf({ fromMs, toMs }: Window): number {
  return Math.floor((toMs - 1) / DAY_MS) - Math.floor(fromMs / DAY_MS) + 1;
}

/** Reads `2026-11-14T12:00:00` and `2026-11-14 12:00:00`, with Z or an offset if `zoned`; undefined for anything else. */
export function parseMoment(text: string | null, zoned: boolean): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})?$/.exec(text ?? '');
  if (match === null || (match[4] !== undefined && !zoned)) return undefined;
  const ms = Date.parse(`${match[1]}T${match[2]}${match[4] ?? 'Z'}`);
  return Number.isNaN(ms) ? undefined : ms;
}

export function readWindow(from: string | null, to: string | null, zoned = false): Window | undefined {
  const fromMs = parseMoment(from, zoned);
  const toMs = parseMoment(to, zoned);
  return fromMs === undefined || toMs === undefined || toMs <= fromMs ? undefined : { fromMs, toMs };
}

/** `2026-11-14 12:00:00` */
export function printSpaced(ms: number): string {
  return printSecond(ms).replace('T', ' ');
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** An XML element with text. */
export function element(name: string, text: string | number): string {
  return `<${name}>${escapeXml(String(text))}</${name}>`;
}

/** Which page of a list a client has requested. */
export interface PageChoice {
  readonly page: number;
  readonly size: number;
  /** The number of the first page. Default: 1. */
  readonly first?: 0 | 1;
}

export interface Page<T> {
  readonly rows: readonly T[];
  /** Rows of the whole list. */
  readonly total: number;
  readonly pages: number;
}

/** The list when a later page of a walk is read. */
export function driftedList<T>(all: readonly T[], fault: Fault | undefined): readonly T[] {
  if (fault === 'drift') return all.slice(1);
  return fault === 'moved row' ? [...all.slice(1), ...all.slice(0, 1)] : all;
}

export function pageOf<T>(
  all: readonly T[],
  { page, size, first = 1 }: PageChoice,
  fault: Fault | undefined,
): Page<T> {
  const list = page > first ? driftedList(all, fault) : all;
  const start = (page - first) * size;
  const pages = Math.max(1, Math.ceil(list.length / size));
  return { rows: list.slice(start, start + size), total: list.length, pages };
}

/** Reads the page and its size from two query parameters. */
export function readPageChoice(
  { searchParams }: URL,
  [pageName, sizeName]: readonly [string, string],
  { standard, max, first = 1 }: { readonly standard: number; readonly max: number; readonly first?: 0 | 1 },
): PageChoice {
  const page = Math.max(first, readCount(searchParams.get(pageName), first));
  return { page, size: Math.max(1, readCount(searchParams.get(sizeName), standard, max)), first };
}

/** Reads a whole number from a query parameter; the default if it is missing or invalid. */
export function readCount(text: string | null, standard: number, max = Number.MAX_SAFE_INTEGER): number {
  return /^\d{1,9}$/.test(text ?? '') ? Math.min(Number(text), max) : Math.min(standard, max);
}
