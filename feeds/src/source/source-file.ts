// The source file: the operator's settings for one account at one network. The schema reports all mistakes at once.

import { ROUNDINGS } from '@offerbook/wire/amount.ts';
import { BadInput } from '@offerbook/wire/failures.ts';
import { templateProblem } from '@offerbook/wire/link-template.ts';
import { checkRow } from '@offerbook/wire/rows/row-problem.ts';
import {
  countryCode,
  currencyCode,
  filledText,
  fraction,
  OBJECT,
  oneOf,
  problemCheck,
  text,
  uuid,
} from '@offerbook/wire/scalars.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import { z } from 'zod';
import { tableFields, timeZone } from './table-mapping.ts';

const ADVERTISER = '{advertiser}';

/** The link or logo of an advertiser: the source file's, with the advertiser's id inserted. */
export function linkOf(link: string, advertiserId: string): string {
  return link.replaceAll(ADVERTISER, () => encodeURIComponent(advertiserId));
}

/** The link must become a valid template for every advertiser. */
function linkProblem(link: string): string | undefined {
  if (!link.includes(ADVERTISER)) return `must contain ${ADVERTISER}`;
  return templateProblem(linkOf(link, 'x'));
}

/** Where a secret is. The source file itself never contains it. */
const secret = z
  .strictObject(
    {
      file: filledText('A file in the same folder that only its owner can read', 'awin.token').optional(),
      env: filledText('An environment variable', 'AWIN_TOKEN').optional(),
    },
    OBJECT,
  )
  .refine(
    ({ file, env }) => (file === undefined) !== (env === undefined),
    'must have either "file" or "env"',
  );
export type SecretPlace = z.output<typeof secret>;

const secrets = <Name extends string>(...names: Name[]) => {
  const fields = Object.fromEntries(names.map((name) => [name, secret])) as Record<Name, typeof secret>;
  return { credentials: z.strictObject(fields, OBJECT).optional(), baseUrl };
};

const baseUrl = text('Replaces the scheme and host of the network, for tests', 'http://127.0.0.1:9000')
  .refine((value) => {
    const url = URL.parse(value);
    return /^https?:$/.test(url?.protocol ?? '') && url?.origin === value.replace(/\/$/, '');
  }, 'must be a scheme, a host and a port, such as http://127.0.0.1:9000')
  .optional();

const share = fraction("The user's share of the commission", 0.7);
const shares = z.record(z.string(), share, OBJECT).default({});

const commonFields = {
  account: filledText('Account at the network', '77777'),
  namespace: uuid('Generated once; all ids are derived from it', '6f6b2c64-5f0e-4b51-9a3e-2f1f0f6f7a10'),
  share: z.strictObject({ default: share, advertisers: shares, groups: shares }, OBJECT),
  rounding: oneOf(ROUNDINGS).default('half-even'),
  timeZone: timeZone.default('UTC'),
  country: countryCode('Default country for sales and offers that do not specify a country', 'DE').optional(),
  overlay: filledText('A CSV file in the same folder', 'overlay.csv').optional(),
  link: text(
    'Link for clicks: {advertiser}, {click} and {url} are inserted',
    'https://network.example/?m={advertiser}&s={click}',
  )
    .check(problemCheck(linkProblem))
    .optional(),
  logo: text(
    'Logo of retailers for which the network has none; {advertiser} becomes the advertiser id',
    'https://logos.example/{advertiser}.png',
  )
    .refine(
      (value) => /^https?:\/\//.test(value) && URL.canParse(linkOf(value, 'x')),
      'must be the URL of an image, such as https://logos.example/{advertiser}.png',
    )
    .optional(),
  subId: oneOf(['uid', 'click', 'org-uid']),
  separator: filledText('Between organisation and passbackUid', '.').optional(),
};

const cjFields = {
  currency: currencyCode('Currency of the account', 'USD'),
  website: filledText('Id of the site (PID), needed to fetch links', '8000000').optional(),
};

const rakutenFields = {
  country: countryCode('Country of the sales (the network does not report it)', 'US'),
  transactionType: oneOf(['realtime', 'batch', 'any']).optional(),
  confirmAfterDays: z
    .int({ error: 'must be a whole number of days' })
    .min(1, 'must be at least 1')
    .max(3650, 'must be at most 3650')
    .optional(),
};

function schemaOf<Name extends string, Shape extends z.ZodRawShape>(network: Name, fields: Shape) {
  return z.strictObject({ network: z.literal(network), ...commonFields, ...fields }, OBJECT);
}

const schemas = [
  schemaOf('awin', secrets('token')),
  schemaOf('impact', secrets('token')),
  schemaOf('partnerize', secrets('applicationKey', 'apiKey')),
  schemaOf('cj', { ...cjFields, ...secrets('token') }),
  schemaOf('rakuten', { ...rakutenFields, ...secrets('clientId', 'clientSecret') }),
  schemaOf('table', tableFields),
] as const;

export const NETWORK_NAMES = schemas.map((schema) => schema.shape.network.value);
export type NetworkName = (typeof NETWORK_NAMES)[number];

const sourceSchema = z
  .discriminatedUnion('network', schemas, {
    error: (issue) =>
      issue.code === 'invalid_union' ? `must be one of ${NETWORK_NAMES.join(', ')}` : OBJECT.error(issue),
  })
  .check(({ value, issues }) => {
    if ((value.subId === 'org-uid') === (value.separator !== undefined)) return;
    const message =
      value.subId === 'org-uid'
        ? 'is required when subId is org-uid'
        : 'is only allowed when subId is org-uid';
    issues.push({ code: 'custom', message, input: value, path: ['separator'] });
  });

export type Source = z.output<typeof sourceSchema>;
export type SourceOf<Name extends NetworkName> = Extract<Source, { network: Name }>;

/**
 * Derives our id from a network's id: UUIDv5 of the source's namespace and `network:account:kind:id`. The same input always gives
 * the same id, so a repeated conversion and import changes nothing.
 */
export function deriveId(
  { network, account, namespace }: Source,
  kind: 'retailer' | 'offer' | 'coupon' | 'promotion' | 'transaction',
  networkId: string,
): Uuid {
  return Bun.randomUUIDv5(`${network}:${account}:${kind}:${networkId}`, namespace) as Uuid;
}

/** Parses a source file; throws a BadInput with one line per mistake. */
export function parseSource(text: string, fileName: string): Source {
  const { value, problems } = checkRow(
    { place: { line: 1 }, value: parseJson(text, fileName) },
    sourceSchema,
  );
  if (problems === undefined) return value;
  const lines = problems.map(
    ({ field, reason }) => `${fileName}: ${field === '' ? 'the file' : field} ${reason}`,
  );
  throw new BadInput(lines.join('\n'));
}

function parseJson(text: string, fileName: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadInput(`${fileName} is not JSON`, { cause: error });
  }
}
