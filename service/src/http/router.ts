// Finds the routes for a path, but does not call them. Fixed paths are in a map; paths with parameters, such as
// /v1/coupons/{id}/activate/, become regular expressions.

import type { Exchange, PathParameters } from './exchange.ts';
import type { Reply } from './reply.ts';

/** HEAD requests use the GET route. */
export type Method = 'GET' | 'POST';

export interface Route<E = Exchange> {
  readonly method: Method;
  /**
   * A segment in braces matches any one segment. A trailing slash is optional in requests, because a redirect would drop the
   * Authorization header.
   */
  readonly path: string;
  /** True if pages from any origin can read the response. */
  readonly openToBrowsers: boolean;
  /** True for links that people click: errors render as HTML if the client accepts HTML. */
  readonly isLink?: true;
  /** Throws ApiError for errors that the client should see. */
  readonly answer: (exchange: E) => Reply | Promise<Reply>;
}

/** All routes for one path. */
export interface Resource<E = Exchange> {
  readonly path: string;
  /** Supported methods, for the Allow header. */
  readonly allow: string;
  /** Methods that pages from any origin can use; empty if there are none. */
  readonly allowFromPages: string;
  /** Keyed by HTTP method. */
  readonly routes: ReadonlyMap<string, Route<E>>;
}

function resourceOf<E>(path: string, all: readonly Route<E>[]): Resource<E> {
  const routes = new Map<string, Route<E>>(all.map((route) => [route.method, route]));
  const get = routes.get('GET');
  if (get !== undefined) routes.set('HEAD', get);
  const methods = [...routes.keys()].toSorted();
  const allowFromPages = methods.filter((method) => routes.get(method)?.openToBrowsers).join(', ');
  return { path, allow: methods.join(', '), allowFromPages, routes };
}

interface Found<E> {
  readonly resource: Resource<E>;
  readonly parameters: PathParameters;
}

/** Returns a function that finds a path. Fixed paths take precedence over paths with parameters. */
export function buildRouter<E = Exchange>(routes: readonly Route<E>[]) {
  const fixed = new Map<string, Found<E>>();
  const patterns: { readonly resource: Resource<E>; readonly expression: RegExp }[] = [];
  for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
    const resource = resourceOf(path, group);
    if (path.includes('{')) {
      const source = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)').replace(/\/$/, '/?');
      patterns.push({ resource, expression: new RegExp(`^${source}$`) });
    } else {
      for (const spelling of [path, path.replace(/(?<=.)\/$/, '')])
        fixed.set(spelling, { resource, parameters: {} });
    }
  }
  return (path: string): Found<E> | undefined => {
    const found = fixed.get(path);
    if (found !== undefined) return found;
    for (const { resource, expression } of patterns) {
      const match = expression.exec(path);
      if (match !== null) return { resource, parameters: { ...match.groups } };
    }
    return undefined;
  };
}
