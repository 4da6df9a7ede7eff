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
export class Resource<E = Exchange> {
  readonly path: string;
  /** Supported methods, for the Allow header. */
  readonly allow: string;
  /** Methods that pages from any origin can use; empty if there are none. */
  readonly allowFromPages: string;
  readonly #routes: ReadonlyMap<string, Route<E>>;

  constructor(path: string, routes: readonly Route<E>[]) {
    const byMethod = new Map<string, Route<E>>();
    for (const route of routes) {
      byMethod.set(route.method, route);
      if (route.method === 'GET') byMethod.set('HEAD', route);
    }
    const methods = [...byMethod.keys()].toSorted();
    this.path = path;
    this.allow = methods.join(', ');
    this.allowFromPages = methods.filter((method) => byMethod.get(method)?.openToBrowsers).join(', ');
    this.#routes = byMethod;
  }

  find(method: string): Route<E> | undefined {
    return this.#routes.get(method);
  }
}

interface Found<E> {
  readonly resource: Resource<E>;
  readonly parameters: PathParameters;
}

/** A path with parameters. */
interface Pattern<E> {
  readonly resource: Resource<E>;
  readonly expression: RegExp;
}

const NO_PARAMETERS: PathParameters = {};

export class Router<E = Exchange> {
  readonly #fixed = new Map<string, Found<E>>();
  readonly #patterns: Pattern<E>[] = [];

  constructor(routes: readonly Route<E>[]) {
    for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
      const resource = new Resource(path, group);
      if (path.includes('{')) {
        const source = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)').replace(/\/$/, '/?');
        this.#patterns.push({ resource, expression: new RegExp(`^${source}$`) });
      } else {
        for (const spelling of [path, path.replace(/(?<=.)\/$/, '')])
          this.#fixed.set(spelling, { resource, parameters: NO_PARAMETERS });
      }
    }
  }

  /** Fixed paths take precedence over paths with parameters. */
  find(path: string): Found<E> | undefined {
    const found = this.#fixed.get(path);
    if (found !== undefined) return found;
    for (const { resource, expression } of this.#patterns) {
      const match = expression.exec(path);
      if (match !== null) return { resource, parameters: { ...match.groups } };
    }
    return undefined;
  }
}
