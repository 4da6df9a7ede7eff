// Requests to a network, their authorisation, and errors in responses with status 200, which are the same for sales and catalogues.

import { BrokenFile } from '@offerbook/wire/rows/raw-row.ts';

/** A request without credentials, which are added to its headers. */
export interface PullRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Secret values by name, such as `token`. */
export type Secrets = Readonly<Record<string, string>>;

export interface AccessToken {
  readonly token: string;
  readonly lifetimeMs: number;
}

export interface NetworkAccess {
  /** The rate that the network publishes for one credential, or a cautious assumption. */
  readonly rate: { readonly requests: number; readonly perMs: number };
  /** Statuses that mean "too many requests", besides 429. */
  readonly tooManyStatuses?: readonly number[];
  /** The headers with the credentials. If the network has a login, `secrets` contains only the access token. */
  authorise(secrets: Secrets): Readonly<Record<string, string>>;
  readonly login?: {
    request(secrets: Secrets): PullRequest;
    /** Returns undefined if the response is not the expected document. */
    read(body: string): AccessToken | undefined;
  };
}

export const ACCEPT_JSON = { Accept: 'application/json' };
export const ACCEPT_XML = { Accept: 'application/xml' };

export function get(
  url: string,
  query: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = ACCEPT_JSON,
): PullRequest {
  const text = new URLSearchParams(query).toString();
  return { method: 'GET', url: text === '' ? url : `${url}?${text}`, headers };
}

export function postJson(url: string, body: unknown): PullRequest {
  const headers = { ...ACCEPT_JSON, 'Content-Type': 'application/json' };
  return { method: 'POST', url, headers, body: JSON.stringify(body) };
}

export function basicAuthorisation(user: string, password: string): Readonly<Record<string, string>> {
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

export function bearerAuthorisation(token: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${token}` };
}

/** A response that is not what the network documents. Repeating the request may help. */
export function unexpected(field = 'the response', reason = 'is not the expected document'): BrokenFile {
  return new BrokenFile({ line: 1 }, { field, reason });
}

/** The network rejects the request. Repeating it cannot help. The message is the network's. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
}
