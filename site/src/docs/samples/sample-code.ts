// The interface of a sample language, and functions that all languages share. Each language has a program that lists the
// catalogue page by page, and one that polls transactions: it saves the smallest Complete-Through of the pages, and its next run
// continues from there. Some also have a program that looks up an item.

export interface Sample {
  /** Name of the client library's method for this operation. */
  readonly clientMethod: string;
  readonly itemName: string;
  /** Fields of an item to print on one line. */
  readonly printedFields: readonly string[];
  readonly query: Readonly<Record<string, string | number>>;
}

export interface SampleRequest extends Sample {
  readonly baseUrl: string;
  readonly path: string;
  /** Environment variable with a token of the operation's kind. */
  readonly tokenVariable: string;
}

export interface SampleLanguage {
  /** Value of `lang` in x-codeSamples. */
  readonly lang: string;
  readonly label: string;
  readonly list: (request: SampleRequest) => string;
  readonly poll: (request: SampleRequest) => string;
  /** Looks up one item by its id. Only languages in which this differs from a plain request have it. */
  readonly get?: (request: SampleRequest) => string;
}

/** File in which samples save their position. */
export const POSITION_FILE = 'complete-through.txt';

/** Formats the query parameters in the sample language's syntax. */
export function printParameters(
  { query }: SampleRequest,
  print: (name: string, value: string | number) => string,
): string {
  return Object.entries(query)
    .map(([name, value]) => print(name, value))
    .join(', ');
}

/** Formats the fields to print as expressions of the sample language, separated by commas. */
export function printFields({ itemName, printedFields }: SampleRequest, open = '.', close = ''): string {
  return printedFields.map((field) => `${itemName}${open}${field}${close}`).join(', ');
}

export function printUrl({ baseUrl, path, query }: SampleRequest): string {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return baseUrl + path + (search.size === 0 ? '' : `?${search}`);
}
