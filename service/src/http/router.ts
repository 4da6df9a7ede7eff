// Finds what there is at a path. A path without parameters is looked up in a map; those with parameters, such as
// /v1/coupons/{id}/activate/, are compared segment by segment. What answers is not this file's business.

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
  readonly answer: (exchange: Exchange) => Reply | Promise<Reply>;
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
  readonly segments: readonly Segment[];
}

interface Segment {
  readonly text: string;
  /** Its name, if it stands for any text. */
  readonly parameter: string | undefined;
}

const NO_PARAMETERS: PathParameters = {};
const PARAMETER = /^\{(\w+)\}$/;

export class Router {
  readonly #static = new Map<string, Found>();
  readonly #patterns: Pattern[] = [];
  /** Longer paths are not taken apart any further. */
  #segmentsMax = 0;

  /** Throws when two routes would answer the same request. */
  constructor(routes: readonly Route[]) {
    for (const [path, group] of Map.groupBy(routes, (route) => route.path)) {
      const resource = new Resource(path, group);
      if (path.includes('{')) this.#addPattern(resource);
      else this.#addStatic(resource);
    }
  }

  find(path: string): Found | undefined {
    return this.#static.get(path) ?? this.#findPattern(path);
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
    const segments = splitPath(resource.path);
    const pattern = {
      resource,
      segments: segments.map((text) => ({ text, parameter: PARAMETER.exec(text)?.[1] })),
    };
    const other = this.#patterns.find((known) => overlap(known.segments, pattern.segments));
    if (other !== undefined)
      throw new Error(`${other.resource.path} and ${resource.path} match the same paths`);
    this.#patterns.push(pattern);
    this.#segmentsMax = Math.max(this.#segmentsMax, pattern.segments.length);
  }

  #findPattern(path: string): Found | undefined {
    if (this.#patterns.length === 0 || !path.startsWith('/')) return undefined;
    const hasSlash = path.endsWith('/');
    const segments = splitPath(path, this.#segmentsMax);
    for (const { resource, segments: wanted } of this.#patterns) {
      if (hasSlash && !resource.path.endsWith('/')) continue;
      const parameters = match(wanted, segments);
      if (parameters !== undefined) return { resource, parameters };
    }
    return undefined;
  }
}

/** The segments of a path, without the empty one behind the last slash; of a long path not all, but more than `max`. */
function splitPath(path: string, max?: number): string[] {
  const segments = path.split('/', max === undefined ? undefined : max + 3).slice(1);
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments;
}

function match(wanted: readonly Segment[], segments: readonly string[]): PathParameters | undefined {
  if (wanted.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, { text, parameter }] of wanted.entries()) {
    const segment = segments[index] ?? '';
    if (parameter === undefined ? segment !== text : segment === '') return undefined;
    if (parameter !== undefined) parameters[parameter] = segment;
  }
  return parameters;
}

/** Whether there is a path that both match. */
function overlap(one: readonly Segment[], other: readonly Segment[]): boolean {
  if (one.length !== other.length) return false;
  return one.every(({ text, parameter }, index) => {
    const beside = other[index];
    return parameter !== undefined || beside?.parameter !== undefined || text === beside?.text;
  });
}
