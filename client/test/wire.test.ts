// The client's wire types match the service's. The compiler compares them: this file compiles only if each type is assignable
// to the other.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type * as catalogue from '@offerbook/wire/catalogue.ts';
import type { Timestamp } from '@offerbook/wire/timestamp.ts';
import type * as transactions from '@offerbook/wire/transaction.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { ErrorCode, ParameterError } from '../../service/src/domain/api-errors.ts';
import { openApiDocument } from '../../service/src/http/openapi/openapi-document.ts';
import { LISTS } from '../../service/src/http/operations/operations.ts';
import { type OpenApi, printWire } from '../scripts/print-wire.ts';
import * as wire from '../src/wire.ts';

/** The service has separate types for ids and timestamps; on the wire they are strings. */
type Plain<T> = T extends Uuid | Timestamp
  ? string
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Name in keyof T]: Plain<T[Name]> }
      : T;

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type ListForm<T> = T & Pick<catalogue.Retailer, 'logo' | 'url' | 'name'> & { retailerId: Uuid };
type Flat<T> = { [Name in keyof T]: T[Name] };

/** Does not compile unless each type is assignable to the other. */
function expectSame<A, B>(_: Same<A, B>): void {}

test("the client's types and the service's types are assignable to each other", () => {
  expectSame<wire.Retailer, Plain<catalogue.Retailer>>(true);
  expectSame<wire.RetailerOffer, Plain<catalogue.CashbackOffer>>(true);
  expectSame<wire.RetailerCoupon, Plain<catalogue.Coupon>>(true);
  expectSame<wire.RetailerPromotion, Plain<catalogue.Promotion>>(true);
  expectSame<wire.CashbackOffer, Plain<Flat<ListForm<catalogue.CashbackOffer>>>>(true);
  expectSame<wire.Coupon, Plain<Flat<ListForm<catalogue.Coupon>>>>(true);
  expectSame<wire.Promotion, Plain<Flat<ListForm<catalogue.Promotion>>>>(true);
  expectSame<wire.RetailerDomains, Plain<catalogue.RetailerDomains>>(true);
  expectSame<wire.Transaction, Plain<transactions.Transaction>>(true);
  expectSame<wire.Problem['code'], ErrorCode>(true);
  expectSame<wire.ParameterError, Flat<ParameterError>>(true);
});

test('wire.ts matches the OpenAPI document (if not: npm run generate --workspace @offerbook/client)', async () => {
  const generated = printWire(openApiDocument() as unknown as OpenApi);
  expect(await Bun.file(join(import.meta.dir, '../src/wire.ts')).text()).toBe(generated);
});

test("OPERATIONS matches the paths and token kinds of the service's lists", () => {
  const actual = Object.values(wire.OPERATIONS).map(({ path, tokenKind }) => ({ path, tokenKind }));
  expect<unknown>(actual).toEqual(LISTS.map(({ path, tokenKind }) => ({ path, tokenKind })));
});

test('the generator throws on a construct that it cannot express as a type', () => {
  const document = {
    paths: {},
    components: { schemas: { Odd: { type: 'object', properties: { odd: { type: 'tuple' } } } } },
  };
  expect(() => printWire(document)).toThrow('cannot turn this schema into a type: {"type":"tuple"}');
});
