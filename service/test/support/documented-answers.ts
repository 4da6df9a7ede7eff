// Checks responses against the OpenAPI document with a validator that shares no code with the service. Status, headers,
// media type and body must match the document.

import { expect } from 'bun:test';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/http/openapi/openapi-document.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The decompressed text; empty if the response has no body. */
  readonly body: string;
}

interface DocumentedHeader {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
}

interface DocumentedResponse {
  readonly headers: Record<string, { readonly $ref: string }>;
  readonly content?: Record<string, { readonly schema: object }>;
}

/** Message and CORS headers, which the document does not list per operation. */
const GENERAL_HEADERS = /^(date|content-(type|length|encoding)|connection|keep-alive|access-control-.*)$/;

/** Characters that RFC 3986 allows in a URI. URL.canParse would silently fix invalid ones. */
const URI_CHARACTERS = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})*$/i;

const document = openApiDocument();
const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
ajv.addFormat(
  'uri-reference',
  (text) => URI_CHARACTERS.test(text) && URL.canParse(text, 'http://base.example'),
);
ajv.addFormat('date-time-local', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/);
ajv.addSchema(strict({ $id: 'document', ...document }));

const compiled = new Map<object, ValidateFunction>();

/** Violations of a schema of the document; empty if the value is valid. */
export function schemaProblems(schema: object, value: unknown): string[] {
  let validate = compiled.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(withAbsoluteReferences(schema));
    compiled.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || 'the body'} ${message}`,
  );
}

export function problemProblems(value: unknown): string[] {
  return schemaProblems(document.components.schemas?.Problem as object, value);
}

/** Deviations of a response from its documented operation; empty if there are none. */
export function answerProblems(path: string, answer: Answer, method = 'GET'): string[] {
  const documentedPath = document.paths[path];
  // A path without POST rejects it with the method_not_allowed error documented for its GET.
  const operation = (method === 'POST' ? documentedPath?.post : undefined) ?? documentedPath?.get;
  const responses = operation?.responses as Record<string, DocumentedResponse> | undefined;
  if (responses === undefined) return [`${path} is not in the document`];
  const documented = responses[answer.status];
  if (documented === undefined) return [`status ${answer.status} is not documented for ${path}`];
  return [...headerProblems(documented, answer.headers), ...bodyProblems(documented, answer, method)];
}

/** Returns the body of a response. Fails if the response deviates from its documented operation. */
export async function documentedBody(path: string, response: Response, method = 'GET'): Promise<string> {
  const { status, headers } = response;
  const body = await response.text();
  expect(answerProblems(path, { status, headers, body }, method)).toEqual([]);
  return body;
}

function headerProblems(documented: DocumentedResponse, sent: Headers): string[] {
  const problems: string[] = [];
  const known = new Set<string>();
  for (const [name, { $ref }] of Object.entries(documented.headers)) {
    known.add(name.toLowerCase());
    const header = document.components.headers?.[$ref.split('/').at(-1) ?? ''] as DocumentedHeader;
    const value = sent.get(name);
    if (value === null) {
      if (header.required === true) problems.push(`the header ${name} is missing`);
    } else {
      problems.push(
        ...schemaProblems(header.schema, parseHeader(header, value)).map((it) => `${name}: ${it}`),
      );
    }
  }
  for (const name of sent.keys()) {
    if (!known.has(name) && !GENERAL_HEADERS.test(name))
      problems.push(`the header ${name} is not documented`);
  }
  return problems;
}

/** Header values are strings; a header documented as an integer must look like one. */
function parseHeader({ schema }: DocumentedHeader, value: string): string | number {
  return schema.type === 'integer' && /^\d+$/.test(value) ? Number(value) : value;
}

function bodyProblems({ content }: DocumentedResponse, answer: Answer, method: string): string[] {
  if (content === undefined || method === 'HEAD') return answer.body === '' ? [] : ['has a body'];
  const mediaType = answer.headers.get('Content-Type') ?? '';
  const documented = content[mediaType.replace('; charset=utf-8', '')];
  if (mediaType.startsWith('text/html') && documented !== undefined) return [];
  if (documented === undefined) return [`the media type "${mediaType}" is not documented`];
  let value: unknown;
  try {
    value = JSON.parse(answer.body);
  } catch {
    return ['the body is not JSON'];
  }
  return schemaProblems(documented.schema, value);
}

function withAbsoluteReferences(schema: object): object {
  return JSON.parse(JSON.stringify(strict(schema)).replaceAll('"$ref":"#/', '"$ref":"document#/')) as object;
}

/** Clients must tolerate unknown fields, but this version of the service must not send undocumented ones. */
function strict<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(strict) as Schema;
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => [key, strict(value)]);
  const isObject = 'properties' in schema && (schema as { type?: unknown }).type === 'object';
  return Object.fromEntries([...entries, ...(isObject ? [['additionalProperties', false]] : [])]) as Schema;
}
