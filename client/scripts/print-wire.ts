// Converts the service's OpenAPI document to the source code of the client's wire types. Throws on unknown constructs, since
// no types are better than wrong ones.

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

/** The client has its own type for pages, `Page<Item>`, which also contains header values. */
const isPage = ([name]: readonly [string, Schema]) => name.endsWith('Page');

/** The client never converts the timestamps of webhooks to Dates, so their names would only make it larger. */
const isWebhook = ([name]: readonly [string, Schema]) => WEBHOOK_COMPONENTS.includes(name);
const WEBHOOK_COMPONENTS = ['TransactionsChanged', 'TransactionChanges'];

export function printWire(document: OpenApi): string {
  const schemas = Object.entries(document.components.schemas).filter((schema) => !isPage(schema));
  // Activation links need no token and are not generated. The client derives look-ups by id from their list.
  const operations = Object.entries(document.paths).filter(
    ([path, { get }]) => get.security.length > 0 && !path.includes('{'),
  );
  return [
    HEADER + printOperations(operations),
    printTimestampFields(schemas.filter((schema) => !isWebhook(schema)).map(([, schema]) => schema)),
    ...schemas.map(([name, schema]) => printComponent(name, schema, document)),
    ...operations
      .filter(([, { get }]) => get.parameters.length > 0)
      .map(([, { get }]) => printParameters(get, document)),
  ].join('\n');
}

/** `listCashbackOffers` becomes `cashbackOffers`. */
function methodName({ operationId }: Operation): string {
  const name = operationId.replace(/^list/, '');
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function printOperations(operations: readonly (readonly [string, { readonly get: Operation }])[]): string {
  const lines = operations.map(([path, { get }]) => {
    const scheme = get.security.flatMap((one) => Object.keys(one)).join();
    const kind = TOKEN_KINDS[scheme];
    if (kind === undefined)
      throw new Error(`${get.operationId} requires an unknown kind of token: ${scheme}`);
    return `  ${methodName(get)}: { path: '${path}', tokenKind: '${kind}' },\n`;
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

function printComponent(name: string, schema: Schema, document: OpenApi): string {
  const generic = containsTimestamps(schema, document) ? '<Time = string>' : '';
  return `export interface ${name}${generic} ${printObject(schema, '', document)}\n`;
}

function containsTimestamps(schema: Schema, document: OpenApi): boolean {
  if (schema.$ref !== undefined) return containsTimestamps(resolve(schema.$ref, document), document);
  if (schema.items !== undefined) return containsTimestamps(schema.items, document);
  if (schema.anyOf?.some((one) => containsTimestamps(one, document))) return true;
  return (
    isTimestamp(schema) ||
    Object.values(schema.properties ?? {}).some((one) => containsTimestamps(one, document))
  );
}

function resolve($ref: string, { components }: OpenApi): Schema {
  const found = components.schemas[componentOf($ref)];
  if (found === undefined) throw new Error(`there is no ${$ref}`);
  return found;
}

function componentOf($ref: string): string {
  return $ref.replace('#/components/schemas/', '');
}

function printParameters(operation: Operation, document: OpenApi): string {
  const name = operation.operationId.replace(/^list/, '');
  const fields = operation.parameters.map(
    (parameter) =>
      `${comment(parameter.description, '  ')}  ${parameter.name}?: ${printType(parameter.schema, '  ', document)} | undefined;\n`,
  );
  return `export interface ${name}Parameters {\n${fields.join('')}}\n`;
}

function printObject(schema: Schema, indent: string, document: OpenApi): string {
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? '' : '?';
    const type = printType(field, inner, document);
    return `${comment(field.description, inner)}${inner}${name}${optional}:${type.startsWith('\n') ? '' : ' '}${type};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function printType(schema: Schema, indent: string, document: OpenApi): string {
  if (schema.enum !== undefined) return printUnion(schema.enum, indent);
  if (schema.$ref !== undefined) {
    const generic = containsTimestamps(schema, document) ? '<Time>' : '';
    return `${componentOf(schema.$ref)}${generic}`;
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
      return printObject(schema, indent, document);
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
