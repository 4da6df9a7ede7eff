// What the samples of all languages are made from. A language has two programs: one walks through a list of the catalogue;
// one polls transactions by the contract, which starts from nothing, keeps the smallest Complete-Through of the pages, and
// goes on from there at its next run.

import type { Sample } from '../../operations/operation.ts';

export interface SampleRequest extends Sample {
  readonly baseUrl: string;
  readonly path: string;
}

export interface SampleLanguage {
  /** As in the `lang` of x-codeSamples. */
  readonly lang: string;
  readonly label: string;
  readonly list: (request: SampleRequest) => string;
  readonly poll: (request: SampleRequest) => string;
}

/** Where the samples keep how far they have come. */
export const KEPT_IN = 'complete-through.txt';

/** The parameters of a request, each printed by a language in its own way. */
export function printParameters(
  { query }: SampleRequest,
  print: (name: string, value: string | number) => string,
): string {
  return Object.entries(query)
    .map(([name, value]) => print(name, value))
    .join(', ');
}

/** The whole URL, with its parameters. */
export function printUrl({ baseUrl, path, query }: SampleRequest): string {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return baseUrl + path + (search === '' ? '' : `?${search}`);
}
