// Code samples for each operation, in several languages. The OpenAPI document contains them, and tests run them unchanged.

import { LOCAL_URL } from './guides/guides.ts';
import { curl } from './samples/curl.ts';
import { go } from './samples/go.ts';
import { java } from './samples/java.ts';
import { nodeFetch } from './samples/node-fetch.ts';
import { php } from './samples/php.ts';
import { python } from './samples/python.ts';
import type { Sample, SampleLanguage } from './samples/sample-code.ts';
import { typeScript } from './samples/typescript.ts';

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** In display order. */
const LANGUAGES: readonly SampleLanguage[] = [curl, typeScript, nodeFetch, python, php, go, java];

/** Samples for private lists poll; samples for public lists fetch every page. */
interface SampledOperation {
  readonly path: string;
  readonly returns: 'page' | 'item';
  readonly tokenKind: 'public' | 'private';
  readonly sample: Sample;
}

export function codeSamples(
  { path, returns, sample, tokenKind }: SampledOperation,
  baseUrl = LOCAL_URL,
): CodeSample[] {
  const tokenVariable = tokenKind === 'public' ? 'OFFERBOOK_PUBLIC_TOKEN' : 'OFFERBOOK_PRIVATE_TOKEN';
  const request = { ...sample, baseUrl, path, tokenVariable };
  return LANGUAGES.flatMap(({ lang, label, list, poll, get }) => {
    const write = returns === 'item' ? get : tokenKind === 'private' ? poll : list;
    return write === undefined ? [] : [{ lang, label, source: write(request) }];
  });
}
