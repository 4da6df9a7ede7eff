// Finds the routes of a path. Paths without parameters are in a map; paths with parameters, such as
// /v1/coupons/{id}/activate/, are regular expressions. It does not call the routes.

import type { Exchange, PathParameters } from './exchange.ts';
import type { Reply } from './reply.ts';

/** HEAD uses the route of GET. */
export type Method = 'GET' | 'POST';

export interface Route {
  readonly method: Method;
  /**
   * A segment in braces matches any one segment. A trailing slash is optional in requests, because a redirect would drop the
   * Authorization header.
   */
  readonly path: string;
  /** True if pages of any origin may read the response. */
  readonly openToBrowsers: boolean;
  /** True for links that people click: errors render as HTML if the client accepts HTML. */
  readonly isLink?: true;
  /** Throws ApiError for errors that the client should see. */
  readonly answer: (exchange: Exchange) => Promise<Reply>;
}

/** All routes of one path. */
export class Resource {
  readonly path: string;
  /** Supported methods, for the Allow header. */
  readonly allow: string;
  /** Methods that pages of any origin may use; empty if there are none. */
  readonly allowFromPages: string;
  readonly #routes: ReadonlyMap<string, Route>;

  /** Throws if two routes have the same method. */
  constructor(path: string, routes: readonly Route[]) {
    const byMethod = new Map<string, Route>();
    for (const route of routes) {
      if (byMethod.has(route.method)) throw new Error(`two routes for ${route.method} ${path}`);
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

  /** Throws if two routes match the same request. */
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

/** True if some path matches both. */
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
