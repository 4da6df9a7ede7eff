// Converts the service's OpenAPI document to the source code of the client's wire types. Throws on unknown constructs, because
// missing types are better than wrong ones. `npm run generate --workspace @offerbook/client` pipes the document to this script.

import { join } from 'node:path';

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly { name: string; description: string; schema: Schema }[];
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const HEADER = `// Generated from the service's OpenAPI document; do not edit. After changing the wire format:
//   npm run generate --workspace @offerbook/client

`;

/** The document's format name for a timestamp without an offset; here always UTC. */
const TIMESTAMP = 'date-time-local';

const TOKEN_KINDS: Readonly<Record<string, string>> = { publicToken: 'public', privateToken: 'private' };

/** The client never converts the timestamps of webhooks to Dates, so their names would only make it larger. */
const WEBHOOK_COMPONENTS = ['TransactionsChanged', 'TransactionChanges'];

export function printWire(document: OpenApi): string {
  // The client has its own type for pages, `Page<Item>`, which also contains header values.
  const components = Object.entries(document.components.schemas).filter(([name]) => !name.endsWith('Page'));
  const converted = components.filter(([name]) => !WEBHOOK_COMPONENTS.includes(name));
  // Activation links need no token and are not generated. The client derives look-ups by id from their list.
  const operations = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get.security.length > 0 && !path.includes('{') ? [{ path, ...get }] : [],
  );
  const printInterface = interfacePrinter();
  return [
    HEADER + printOperations(operations),
    printTimestampFields(converted.map(([, schema]) => schema)),
    ...components.map(([name, schema]) => {
      const generic = containsTimestamps(schema, document) ? '<Time = string>' : '';
      return printInterface(name, generic, printFields(schema, '  ', document));
    }),
    ...operations
      .filter(({ parameters }) => parameters.length > 0)
      .map(({ operationId, parameters }) => {
        const fields = parameters.map(
          ({ name, description, schema }) =>
            `${comment(description, '  ')}  ${name}?: ${printType(schema, '  ', document)} | undefined;\n`,
        );
        return printInterface(`${operationId.replace(/^list/, '')}Parameters`, '', fields);
      }),
  ].join('\n');
}

/** Returns a function that prints an interface. It extends the largest earlier interface whose fields it repeats. */
function interfacePrinter() {
  const earlier: { readonly name: string; readonly fields: readonly string[] }[] = [];
  return (name: string, generic: string, fields: readonly string[]): string => {
    const [parent] = earlier
      .filter((one) => one.fields.every((field) => fields.includes(field)))
      .sort((a, b) => b.fields.length - a.fields.length);
    earlier.push({ name: name + generic.replace(' = string', ''), fields });
    const own = fields.filter((field) => parent?.fields.includes(field) !== true);
    const start = `export interface ${name}${generic}${parent === undefined ? '' : ` extends ${parent.name}`}`;
    return own.length === 0 ? `${start} {}\n` : `${start} {\n${own.join('')}}\n`;
  };
}

function printOperations(operations: readonly (Operation & { readonly path: string })[]): string {
  const lines = operations.map(({ path, operationId, security }) => {
    const scheme = security.flatMap((one) => Object.keys(one)).join();
    const kind = TOKEN_KINDS[scheme];
    if (kind === undefined) throw new Error(`${operationId} requires an unknown kind of token: ${scheme}`);
    // `listCashbackOffers` becomes `cashbackOffers`.
    const name = operationId.replace(/^list(.)/, (_, first: string) => first.toLowerCase());
    return `  ${name}: { path: '${path}', tokenKind: '${kind}' },\n`;
  });
  return `/** Path and token kind of each list. */
export const OPERATIONS = {\n${lines.join('')}} as const;\n`;
}

function printTimestampFields(schemas: readonly Schema[]): string {
  const fields = schemas.flatMap(fieldsOf);
  const names = new Set(fields.filter(([, schema]) => isTimestamp(schema)).map(([name]) => name));
  const ambiguous = fields.find(([name, schema]) => names.has(name) && !isTimestamp(schema));
  if (ambiguous !== undefined)
    throw new Error(`${ambiguous[0]} is a timestamp in one place and not in another`);
  const lines = [...names].sort().map((name) => `  '${name}',\n`);
  return `/** Names of all timestamp fields. */
export const TIMESTAMP_FIELDS: readonly string[] = [\n${lines.join('')}];\n`;
}

function fieldsOf(schema: Schema): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {});
  return [...own, ...own.flatMap(([, field]) => fieldsOf(field))];
}

function isTimestamp(schema: Schema): boolean {
  return schema.format === TIMESTAMP;
}

/** True if the schema, or a component that it refers to, has a timestamp. */
function containsTimestamps(schema: Schema, document: OpenApi): boolean {
  const text = JSON.stringify(schema);
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  return (
    text.includes(`"format":"${TIMESTAMP}"`) ||
    references.some(([, name = '']) => containsTimestamps(document.components.schemas[name] ?? {}, document))
  );
}

function printFields(schema: Schema, indent: string, document: OpenApi): string[] {
  return Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? '' : '?';
    const type = printType(field, indent, document);
    return `${comment(field.description, indent)}${indent}${name}${optional}:${type.startsWith('\n') ? '' : ' '}${type};\n`;
  });
}

function printType(schema: Schema, indent: string, document: OpenApi): string {
  if (schema.enum !== undefined) return printUnion(schema.enum, indent);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    return containsTimestamps(schema, document) ? `${name}<Time>` : name;
  }
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((one) => printType(one, indent, document)).join(' | ');
  if (typeof schema.type === 'object')
    return schema.type.map((type) => printType({ ...schema, type }, indent, document)).join(' | ');
  switch (schema.type) {
    case 'string':
      return schema.format === TIMESTAMP ? 'Time' : 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      if (schema.items !== undefined) return `Array<${printType(schema.items, indent, document)}>`;
      break;
    case 'object':
      return `{\n${printFields(schema, `${indent}  `, document).join('')}${indent}}`;
  }
  throw new Error(`cannot turn this schema into a type: ${JSON.stringify(schema)}`);
}

/** Returns a short list on one line, and a long list on one line per value, as Biome formats them. */
function printUnion(values: readonly string[], indent: string): string {
  const [short, long] = [' | ', `\n${indent}  | `].map((separator) =>
    values.map((value) => `${separator}'${value}'`).join(''),
  );
  return values.length > 4 ? (long ?? '') : (short ?? '').slice(' | '.length);
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`;
}

if (import.meta.main) {
  const document = JSON.parse(await Bun.stdin.text()) as OpenApi;
  await Bun.write(join(import.meta.dir, '../src/wire.ts'), printWire(document));
}
