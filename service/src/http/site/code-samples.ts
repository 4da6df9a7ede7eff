// How to call each operation, in several languages. Part of the OpenAPI document; tests run them as they are.

import type { Operation } from '../operations/operation.ts';
import { LOCAL_URL } from './guides/guides.ts';
import { curl } from './samples/curl.ts';
import { go } from './samples/go.ts';
import { java } from './samples/java.ts';
import { nodeFetch } from './samples/node-fetch.ts';
import { php } from './samples/php.ts';
import { python } from './samples/python.ts';
import type { SampleLanguage } from './samples/sample-code.ts';
import { typeScript } from './samples/typescript.ts';

export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

/** In the order in which they are shown. */
const LANGUAGES: readonly SampleLanguage[] = [curl, typeScript, nodeFetch, python, php, go, java];

export function codeSamples({ path, sample, tokenKind }: Operation, baseUrl = LOCAL_URL): CodeSample[] {
  const request = { ...sample, baseUrl, path };
  return LANGUAGES.map(({ lang, label, list, poll }) => ({
    lang,
    label,
    source: tokenKind === 'private' ? poll(request) : list(request),
  }));
}
