// offerbook mcp: gives agents read-only tools for the HTTP API, over the Model Context Protocol on stdin and stdout. There is
// one tool per operation. Names, descriptions and schemas come from the same tables as the OpenAPI document. Results contain
// text from shops and networks, which agents must treat as data.

import { type CallToolResult, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { OfferbookClient } from '@offerbook/client';
import { BadInput } from '@offerbook/wire/failures.ts';
import { Command } from 'commander';
import { readAgentTokens } from '../../config.ts';
import { parseTokenKind, TOKEN_KINDS, type TokenKind } from '../../domain/access-token.ts';
import { VERSION } from '../../domain/build.ts';
import { linkParameter, listParameter } from '../../http/openapi/parameter-objects.ts';
import type { Operation } from '../../http/operations/operation.ts';
import { OPERATIONS } from '../../http/operations/operations.ts';
import { UUID } from '../../http/operations/parameters.ts';
import { stopSignal } from '../node/signals.ts';

/** Items per page unless the agent sends a limit. Small, because the page becomes part of the agent's context. */
const PAGE_SIZE = 20;
const TIMEOUT_MS = 30_000;

type Tokens = { readonly [Kind in TokenKind]?: string };
type Arguments = Readonly<Record<string, string | number>>;

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('give agents read-only tools for the API, over the Model Context Protocol on stdio')
    .option('--url <url>', 'URL of the service', 'http://127.0.0.1:8080')
    .addHelpText(
      'after',
      '\nSet OFFERBOOK_PUBLIC_TOKEN for the catalogue, OFFERBOOK_PRIVATE_TOKEN for transactions, or both.\n\nExample:\n  offerbook mcp --url https://api.example',
    )
    .action(serveAgents);
}

async function serveAgents({ url }: { readonly url: string }): Promise<void> {
  const tokens = checkTokens(readAgentTokens());
  const client = buildClient(url, tokens);
  const input = new Promise((resolve) => process.stdin.once('end', resolve));
  const connection = serveStdio(() => buildServer(url, tokens, client));
  await Promise.race([input, stopSignal()]);
  await connection.close();
}

function checkTokens(tokens: Tokens): Tokens {
  const kinds = TOKEN_KINDS.filter((kind) => tokens[kind] !== undefined);
  if (kinds.length === 0)
    throw new BadInput(
      'set OFFERBOOK_PUBLIC_TOKEN or OFFERBOOK_PRIVATE_TOKEN; tokens are never passed as arguments',
    );
  for (const kind of kinds) {
    const found = parseTokenKind(tokens[kind] ?? '');
    if (found === kind) continue;
    const problem =
      found === undefined
        ? 'is not a token; check that it was copied completely'
        : `contains a ${found} token; set ${variableOf(found)} instead`;
    throw new BadInput(`${variableOf(kind)} ${problem}`);
  }
  return tokens;
}

function variableOf(kind: TokenKind): string {
  return `OFFERBOOK_${kind.toUpperCase()}_TOKEN`;
}

function buildClient(url: string, tokens: Tokens): OfferbookClient {
  try {
    return new OfferbookClient({ baseUrl: url, token: tokens.public ?? tokens.private ?? '' });
  } catch (error) {
    throw new BadInput((error as Error).message.replace('baseUrl', '--url'), { cause: error });
  }
}

function buildServer(url: string, tokens: Tokens, client: OfferbookClient): McpServer {
  const server = new McpServer({ name: 'offerbook', version: VERSION });
  for (const operation of OPERATIONS) {
    const token = tokens[operation.tokenKind];
    if (token === undefined) continue;
    const { id, summary, description } = operation;
    server.registerTool(
      id,
      {
        title: summary,
        description,
        inputSchema: fromJsonSchema<Arguments>(inputSchema(operation)),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      (given) => callOperation(url, operation, token, given),
    );
  }
  server.registerTool(
    'activationLink',
    {
      title: 'Activation link for a user',
      description:
        'Returns a link that activates a deal for one of your users and redirects to the shop. Makes no request: the service records the click when the user opens the link.',
      inputSchema: fromJsonSchema<ActivationArguments>(ACTIVATION_SCHEMA),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (given) => ({ content: [{ type: 'text', text: client.activationUrl(given) }] }),
  );
  return server;
}

function inputSchema({ parameters, path }: Operation) {
  const query = parameters.map((name) => listParameter(name, PAGE_SIZE));
  const properties = Object.fromEntries(
    query.map(({ name, description, schema }) => [name, { description, ...schema }]),
  );
  return path.includes('{id}')
    ? { ...OBJECT, properties: { id: { description: 'The id', ...UUID }, ...properties }, required: ['id'] }
    : { ...OBJECT, properties };
}

const OBJECT = { type: 'object' } as const;

interface ActivationArguments {
  readonly deal: 'retailer' | 'cashbackOffer' | 'coupon' | 'promotion';
  readonly id: string;
  readonly orgId: string;
  readonly passbackUid: string;
  readonly passbackData?: string;
  readonly to?: string;
}

const ACTIVATION_SCHEMA = {
  ...OBJECT,
  properties: {
    deal: {
      description: 'What the id identifies',
      enum: ['retailer', 'cashbackOffer', 'coupon', 'promotion'],
    },
    id: { description: 'Id of the retailer or deal', ...UUID },
    ...Object.fromEntries(
      (['orgId', 'passbackUid', 'passbackData', 'to'] as const).map((name) => {
        const { description, schema } = linkParameter(name);
        return [name, { description, ...schema }];
      }),
    ),
  },
  required: ['deal', 'id', 'orgId', 'passbackUid'],
};

/** Errors that the agent can act on, such as an unknown id or an exceeded limit, become the tool's result. */
async function callOperation(
  url: string,
  { path, parameters }: Operation,
  token: string,
  { id = '', ...query }: Arguments,
): Promise<CallToolResult> {
  const withLimit = parameters.includes('limit') ? { limit: PAGE_SIZE, ...query } : query;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(withLimit)) search.set(name, String(value));
  try {
    const response = await fetch(`${url}${path.replace('{id}', encodeURIComponent(id))}?${search}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    return { content: [{ type: 'text', text }], isError: !response.ok };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { content: [{ type: 'text', text: `The service did not respond: ${reason}` }], isError: true };
  }
}
