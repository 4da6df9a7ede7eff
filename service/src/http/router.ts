// Finds what there is at a path. A path without parameters is looked up in a map; those with parameters, such as
// /v1/coupons/{id}/activate/, are regular expressions. What answers is not this file's business.

import type { Exchange, PathParameters } from './exchange.ts';
import type { Reply } from './reply.ts';

/** HEAD goes with GET: a route never names it. */
export type Method = 'GET' | 'POST';

export interface Route {
  readonly method: Method;
  /**
   * A segment in braces stands for any text of one segment. Where the path ends with a slash, callers may leave that out: a
   * redirect would drop the Authorization header.
   */
  readonly path: string;
  /** Whether pages from anywhere may read the answer. */
  readonly openToBrowsers: boolean;
  /** Whether people follow it: its errors are pages for those who want pages. */
  readonly isLink?: true;
  /** Throws ApiError for everything that the caller is to know. */
  readonly answer: (exchange: Exchange) => Promise<Reply>;
}

/** All routes of one path. */
export class Resource {
  readonly path: string;
  /** The methods that it has, as in the Allow header. */
  readonly allow: string;
  /** Those of them that pages from anywhere may use; empty when there are none. */
  readonly allowFromPages: string;
  readonly #routes: ReadonlyMap<string, Route>;

  /** Throws when two of the routes have the same method. */
  constructor(path: string, routes: readonly Route[]) {
    const byMethod = new Map<string, Route>();
    for (const route of routes) {
      if (byMethod.has(route.method)) throw new Error(`${route.method} ${path} is there twice`);
      byMethod.set(route.method, route);
      if (route.method === 'GET') byMethod.set('HEAD', route);
    }
    const methods = [...byMethod.keys()].toSorted();
    this.path = path;
    this.allow = methods.join(', ');
    this.allowFromPages = methods.filter((method) => byMethod.get(method)?.openToBrowsers).join(', ');
    this.#routes = byMethod;
  }

  find(method: string): Route | undefined {
    return this.#routes.get(method);
  }
}

export interface Found {
  readonly resource: Resource;
  readonly parameters: PathParameters;
}

/** A path with parameters. */
interface Pattern {
  readonly resource: Resource;
  readonly expression: RegExp;
}

const NO_PARAMETERS: PathParameters = {};

export class Router {
  readonly #static = new Map<string, Found>();
  readonly #patterns: Pattern[] = [];

  /** Throws when two routes would answer the same request. */
  constructor(routes: readonly Route[]) {
    for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
      const resource = new Resource(path, group);
      if (path.includes('{')) this.#addPattern(resource);
      else this.#addStatic(resource);
    }
  }

  find(path: string): Found | undefined {
    const found = this.#static.get(path);
    if (found !== undefined) return found;
    for (const { resource, expression } of this.#patterns) {
      const match = expression.exec(path);
      if (match !== null) return { resource, parameters: { ...match.groups } };
    }
    return undefined;
  }

  #addStatic(resource: Resource): void {
    const { path } = resource;
    const spellings = path.endsWith('/') && path !== '/' ? [path, path.slice(0, -1)] : [path];
    for (const spelling of spellings) {
      const other = this.#static.get(spelling)?.resource.path;
      if (other !== undefined) throw new Error(`${other} and ${path} are the same path`);
      this.#static.set(spelling, { resource, parameters: NO_PARAMETERS });
    }
  }

  #addPattern(resource: Resource): void {
    const { path } = resource;
    const other = this.#patterns.find((known) => overlap(known.resource.path, path));
    if (other !== undefined) throw new Error(`${other.resource.path} and ${path} match the same paths`);
    const source = path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)').replace(/\/$/, '/?');
    this.#patterns.push({ resource, expression: new RegExp(`^${source}$`) });
  }
}

/** Whether there is a path that both match. */
function overlap(one: string, other: string): boolean {
  const segments = withoutSlash(one).split('/');
  const others = withoutSlash(other).split('/');
  return (
    segments.length === others.length &&
    segments.every((text, index) => text === others[index] || `${text}${others[index]}`.includes('{'))
  );
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
