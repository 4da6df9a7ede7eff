// The part of a source file that maps the columns of a table to our fields. A field is a column or a constant, and a column
// can be converted in a few fixed ways.

import { filledText, LIST, OBJECT, oneOf, problemCheck } from '@offerbook/wire/scalars.ts';
import { STATUSES } from '@offerbook/wire/transaction.ts';
import { z } from 'zod';
import { findPatternFault, isTimeZone } from '../zoned-time.ts';

export const timeZone = z
  .string({ error: 'must be a time zone' })
  .refine(isTimeZone, 'must be a time zone such as Europe/Berlin');

const cell = z.strictObject(
  {
    column: filledText('Name of a column, or a path such as order.total in JSON', 'Order number').optional(),
    constant: filledText('Value for every row', 'EUR').optional(),
    trim: z.boolean({ error: 'must be true or false' }).optional(),
    lower: z.boolean({ error: 'must be true or false' }).optional(),
    /** Number format: 1234.56 or 1.234,56. */
    number: oneOf(['point', 'comma']).optional(),
    /** Converts a percentage to a fraction. */
    percent: z.literal(true, { error: 'must be true' }).optional(),
    /** Time format, such as DD.MM.YYYY HH:mm. */
    date: z
      .string({ error: 'must be a pattern' })
      .regex(/^(?=.*YYYY)(?=.*MM)(?=.*DD)[^A-Za-z]*(?:(?:YYYY|MM|DD|HH|mm|ss|T)[^A-Za-z]*)+$/, {
        error: 'must be a pattern of YYYY, MM, DD, HH, mm and ss, such as DD.MM.YYYY HH:mm',
      })
      .check(problemCheck(findPatternFault))
      .optional(),
    timeZone: timeZone.optional(),
    /** Maps the column's values to ours. */
    words: z.record(z.string(), filledText('Meaning', 'PENDING'), OBJECT).optional(),
  },
  OBJECT,
);
export type Cell = z.output<typeof cell>;

const eitherCell = cell.refine((it) => (it.column === undefined) !== (it.constant === undefined), {
  error: 'must have either a column or a constant',
});

/** A plain string is the name of a column. */
function columnOr<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (typeof value === 'string' ? { column: value } : value), schema);
}

const mapped = columnOr(eitherCell);

const statusCell = eitherCell.check(({ value, issues }) => {
  const meanings = value.words === undefined ? [value.constant] : Object.values(value.words);
  for (const meaning of meanings) {
    if (meaning === undefined || STATUSES.some((status) => status === meaning)) continue;
    issues.push({ code: 'custom', message: `must map to ${STATUSES.join(', ')}`, input: value, path: [] });
  }
});

/** Location of one kind of row in a file, and its column mapping. */
function rowsOf<Shape extends z.ZodRawShape>(fields: Shape) {
  return z.strictObject(
    {
      /** Separator of a CSV file. */
      separator: z.string({ error: 'must be a string' }).length(1, 'must be one character').optional(),
      /** Path to the list of rows in a JSON object. */
      list: z.array(filledText('Name of a field', 'data'), LIST).optional(),
      fields: z.strictObject(fields, OBJECT),
    },
    OBJECT,
  );
}

/** The fields of a row: required ones, then optional ones. */
function mappedFields<Required extends string, Optional extends string>(
  required: readonly Required[],
  optional: readonly Optional[],
) {
  return {
    ...(Object.fromEntries(required.map((name) => [name, mapped])) as Record<Required, typeof mapped>),
    ...(Object.fromEntries(optional.map((name) => [name, optionalCell])) as Record<
      Optional,
      typeof optionalCell
    >),
  };
}
const optionalCell = mapped.optional();

const saleFields = {
  ...mappedFields(
    ['id', 'advertiserId', 'soldAt', 'currency', 'orderValue', 'commission'],
    ['country', 'clickedAt', 'modifiedAt', 'group', 'subId', 'subData', 'couponCode', 'offerId'],
  ),
  status: columnOr(statusCell),
};
/** Domains are separated by spaces or commas. */
const retailerFields = mappedFields(['id', 'name', 'url'], ['logo', 'countries', 'domains']);
/** The rate is a fraction of the order value: 0.05, or 5 with `percent`. */
const offerFields = mappedFields(
  ['id', 'retailerId'],
  ['rate', 'fixed', 'currency', 'description', 'category', 'countries', 'terms'],
);
const dealFields = mappedFields(['id', 'retailerId'], ['description', 'startDate', 'endDate']);

export const tableFields = {
  transactions: rowsOf(saleFields).optional(),
  retailers: rowsOf(retailerFields).optional(),
  offers: rowsOf(offerFields).optional(),
  coupons: rowsOf({ ...dealFields, code: mapped }).optional(),
  promotions: rowsOf({ ...dealFields, deepLink: optionalCell }).optional(),
};
