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

/** Samples for private operations poll; samples for public operations list every page. */
interface SampledOperation {
  readonly path: string;
  readonly tokenKind: 'public' | 'private';
  readonly sample: Sample;
}

export function codeSamples(
  { path, sample, tokenKind }: SampledOperation,
  baseUrl = LOCAL_URL,
): CodeSample[] {
  const request = { ...sample, baseUrl, path };
  return LANGUAGES.map(({ lang, label, list, poll }) => ({
    lang,
    label,
    source: tokenKind === 'private' ? poll(request) : list(request),
  }));
}
