// The activation paths in the OpenAPI document: two operations for retailers and for each kind of deal, and the link that
// POST returns.

import type { ApiDocument, ApiOperation, ApiResponse } from '@offerbook/site/docs/api-document.ts';
import type { CodeSample } from '@offerbook/site/docs/code-samples.ts';
import { EXAMPLE_IDS } from '@offerbook/wire/catalogue.ts';
import type { ErrorCode } from '../../domain/api-errors.ts';
import { ACTIVATED, ACTIVATION_PARAMETERS, GO_PARAMETERS } from '../operations/activate.ts';
import { linkParameter, pathParameter, UUID } from '../operations/parameters.ts';
import { objectSchema, type Schema, schemaRef } from './component-schemas.ts';
import { errorResponses } from './error-responses.ts';
import { type HeaderName, headerRefs } from './header-objects.ts';

export const ACTIVATION_TAG = {
  name: 'Activation',
  description:
    'Links that send users to a shop. They need no token; they identify your organisation by its public id.',
};

export const ACTIVATION_SCHEMAS: Record<string, Schema> = {
  ActivatedDeal: objectSchema('An activated deal', {
    url: { type: 'string', format: 'uri-reference', description: 'Link to send the user to' },
  }),
};

/** The suffix of each operation's id, and the noun in its descriptions. */
const NAMES = {
  retailers: ['Retailer', 'retailer'],
  cashbackOffers: ['CashbackOffer', 'cashback offer'],
  coupons: ['Coupon', 'coupon'],
  promotions: ['Promotion', 'promotion'],
} as const;
const EXAMPLE_CLICK = 'Vb89jzL001biPkmMApa4tT';
const FOLLOW_ERRORS: readonly ErrorCode[] = [
  'invalid_parameter',
  'several_hosts',
  'deal_not_found',
  'method_not_allowed',
  'uri_too_long',
  'internal',
  'unavailable',
];
const ACTIVATE_ERRORS: readonly ErrorCode[] = [...FOLLOW_ERRORS, 'deal_gone', 'rate_limited'];

export function activationPaths(publicUrl: string | undefined, baseUrl: string): ApiDocument['paths'] {
  const paths = ACTIVATED.map(({ kind, path, parameter }) => {
    const [name, noun] = NAMES[kind];
    const id = EXAMPLE_IDS[kind];
    const example = { path: `${path}${id}/activate/`, methods: 'GET, HEAD or POST' };
    const samples = activationSamples(path, noun, baseUrl);
    const also = `The id may also be in the query: \`${path}activate/?${parameter}=…\`.`;
    const parameters = [
      pathParameter('id', `Id of the ${noun}`, UUID, id),
      ...ACTIVATION_PARAMETERS.map((name) => linkParameter(name, name === 'orgId' || name === 'passbackUid')),
    ];
    return [
      `${path}{id}/activate/`,
      {
        get: {
          ...described(`follow${name}`, `Send a user to a ${noun}`),
          description: `Records the click and redirects to the shop. Use it for links that users click. A second tap within ten seconds counts as the same click. Previews and bots are redirected to the plain URL and not recorded. Errors are HTML if the client accepts HTML. ${also}`,
          parameters,
          responses: {
            ...REDIRECTS,
            ...errorResponses(FOLLOW_ERRORS, { ...example, isLink: true }, publicUrl),
          },
          'x-codeSamples': samples.follow,
        },
        post: {
          ...described(`activate${name}`, `Activate a ${noun}`),
          description: `Records that the user has activated the ${noun} and returns a link. The click is recorded when the user follows the link. Retry if the response is 429 (rate limit) or 503 (the activation was not recorded). ${also}`,
          parameters,
          responses: { 200: activated(publicUrl), ...errorResponses(ACTIVATE_ERRORS, example, publicUrl) },
          'x-codeSamples': samples.activate,
        },
      },
    ] as const;
  });
  return { ...Object.fromEntries(paths), '/go/{click}/': { get: goOperation(publicUrl, baseUrl) } };
}

function described(operationId: string, summary: string) {
  return { operationId, summary, tags: [ACTIVATION_TAG.name], security: [] };
}

function goOperation(publicUrl: string | undefined, baseUrl: string): ApiOperation {
  const samples = activationSamples('/v1/coupons/', 'coupon', baseUrl);
  return {
    ...described('followClick', 'Follow an activation link'),
    description:
      'Redirects to the shop and records when the link is first followed. Above the rate limit, only links that were followed recently are redirected.',
    parameters: [
      pathParameter('click', 'Id of the click', { type: 'string' }, EXAMPLE_CLICK),
      ...GO_PARAMETERS.map((name) => linkParameter(name)),
    ],
    responses: {
      ...REDIRECTS,
      ...errorResponses(ACTIVATE_ERRORS, { path: `/go/${EXAMPLE_CLICK}/`, isLink: true }, publicUrl),
    },
    'x-codeSamples': samples.go,
  };
}

/** Returns shell samples for the three requests. They use the first item of the list, so they work when pasted. */
function activationSamples(path: string, noun: string, baseUrl: string) {
  const findId = `# The first ${noun} in the list. OFFERBOOK_ORG_ID is the public id of your organisation.
ID=$(curl -s -H "Authorization: Bearer $OFFERBOOK_PUBLIC_TOKEN" '${baseUrl}${path}?limit=1' |
  grep -o '"id":"[^"]*"' | head -n 1 | cut -d '"' -f 4)`;
  const url = `"${baseUrl}${path}$ID/activate/?orgId=$OFFERBOOK_ORG_ID&passbackUid=user-8842"`;
  const shell = (commands: string): CodeSample[] => [
    { lang: 'Shell', label: 'curl', source: `${findId}\n${commands}` },
  ];
  return {
    follow: shell(`curl -si ${url}`),
    activate: shell(`curl -s -X POST ${url}`),
    go: shell(`LINK=$(curl -s -X POST ${url} | cut -d '"' -f 4)\ncurl -si "$LINK"`),
  };
}

const LINK_HEADERS: readonly HeaderName[] = [
  'Request-Id',
  'Offerbook-Click',
  'Cache-Control',
  'Referrer-Policy',
  'X-Robots-Tag',
];

const REDIRECTS: Record<string, ApiResponse> = {
  302: { description: 'Redirect to the shop', headers: headerRefs(['Location', ...LINK_HEADERS]) },
  204: { description: 'A prefetch, which is not recorded', headers: headerRefs(LINK_HEADERS) },
};

function activated(publicUrl = 'https://api.example'): ApiResponse {
  return {
    description: 'Link to send the user to',
    headers: headerRefs(['Request-Id', 'Offerbook-Click', 'Cache-Control', 'RateLimit', 'RateLimit-Policy']),
    content: {
      'application/json': {
        schema: schemaRef('ActivatedDeal'),
        example: { url: `${publicUrl}/go/${EXAMPLE_CLICK}/` },
      },
    },
  };
}
