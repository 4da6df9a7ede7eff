// Turns the service's OpenAPI document into the client's wire types. Pure: a document in, the text of a
// TypeScript file out, so that a test can tell whether the file in the repository is current. A construct
// that it does not know stops it: better no types than wrong ones.

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $ref?: string;
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

const HEADER = `// Generated from the service's OpenAPI document; do not edit. After a change of the wire format:
//   npm run generate --workspace @offerbook/client

`;

/** The document's word for a timestamp without an offset; here always UTC. */
const TIMESTAMP = 'date-time-local';

const TOKEN_KINDS: Readonly<Record<string, string>> = { publicToken: 'public', privateToken: 'private' };

export function printWire(document: OpenApi): string {
  const schemas = Object.entries(document.components.schemas);
  const operations = Object.entries(document.paths);
  return [
    HEADER + printOperations(operations),
    printTimestampFields(schemas.map(([, schema]) => schema)),
    ...schemas.map(([name, schema]) => printComponent(name, schema)),
    ...operations.map(([, { get }]) => printParameters(get)),
  ].join('\n');
}

/** `listCashbackOffers` is `cashbackOffers` to a caller. */
function methodName({ operationId }: Operation): string {
  const name = operationId.replace(/^list/, '');
  return name.charAt(0).toLowerCase() + name.slice(1);
}

function printOperations(operations: readonly (readonly [string, { readonly get: Operation }])[]): string {
  const lines = operations.map(([path, { get }]) => {
    const scheme = get.security.flatMap((one) => Object.keys(one)).join();
    const kind = TOKEN_KINDS[scheme];
    if (kind === undefined) throw new Error(`${get.operationId} takes an unknown kind of token: ${scheme}`);
    return `  ${methodName(get)}: { path: '${path}', tokenKind: '${kind}' },\n`;
  });
  return `/** Where each operation is, and the kind of token that it takes. */
export const OPERATIONS = {\n${lines.join('')}} as const;\n`;
}

function printTimestampFields(schemas: readonly Schema[]): string {
  const fields = schemas.flatMap(fieldsOf);
  const names = new Set(fields.filter(([, schema]) => isTimestamp(schema)).map(([name]) => name));
  const ambiguous = fields.find(([name, schema]) => names.has(name) && !isTimestamp(schema));
  if (ambiguous !== undefined)
    throw new Error(`${ambiguous[0]} is a timestamp in one place and not in another`);
  const lines = [...names].sort().map((name) => `  '${name}',\n`);
  return `/** The fields that hold timestamps, wherever they occur. */
export const TIMESTAMP_FIELDS: readonly string[] = [\n${lines.join('')}];\n`;
}

function fieldsOf(schema: Schema): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {});
  const nested = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])];
  if (schema.items !== undefined) nested.push(schema.items);
  return [...own, ...nested.flatMap(fieldsOf)];
}

function isTimestamp(schema: Schema): boolean {
  return schema.format === TIMESTAMP || (schema.anyOf ?? []).some(isTimestamp);
}

function printComponent(name: string, schema: Schema): string {
  const generic = fieldsOf(schema).some(([, field]) => isTimestamp(field)) ? '<Time = string>' : '';
  return `export interface ${name}${generic} ${printObject(schema, '')}\n`;
}

function printParameters(operation: Operation): string {
  const name = operation.operationId.replace(/^list/, '');
  const fields = operation.parameters.map(
    (parameter) =>
      `${comment(parameter.description, '  ')}  ${parameter.name}?: ${printType(parameter.schema, '  ')} | undefined;\n`,
  );
  return `export interface ${name}Parameters {\n${fields.join('')}}\n`;
}

function printObject(schema: Schema, indent: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? '' : '?';
    const type = printType(field, inner);
    const description = field.description ?? field.anyOf?.[0]?.description;
    return `${comment(description, inner)}${inner}${name}${optional}:${type.startsWith('\n') ? '' : ' '}${type};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function printType(schema: Schema, indent: string): string {
  if (schema.enum !== undefined) return printUnion(schema.enum, indent);
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => printType(one, indent)).join(' | ');
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
      if (schema.items !== undefined) return `Array<${printType(schema.items, indent)}>`;
      break;
    case 'object':
      return printObject(schema, indent);
  }
  throw new Error(`cannot turn this schema into a type: ${JSON.stringify(schema)}`);
}

/** On one line when it is short, as the formatter would have it. */
function printUnion(values: readonly string[], indent: string): string {
  const [short, long] = [' | ', `\n${indent}  | `].map((separator) =>
    values.map((value) => `${separator}'${value}'`).join(''),
  );
  return values.length > 4 ? (long ?? '') : (short ?? '').slice(' | '.length);
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`;
}
