// An implementation that a competent team could write in a day: Hono on Bun, one query and JSON.stringify per request, tokens
// looked up by digest, and compression by the framework's middleware. It has prepared statements, the indexes that its queries
// need, and a cursor instead of an offset.
//   bun plain.ts DATABASE PORT

import { Database } from 'bun:sqlite';
import { Hono } from 'hono';
import { compress } from 'hono/compress';

type Row = Record<string, unknown>;

const [path = '', port = ''] = process.argv.slice(2);
const database = new Database(path, { readonly: true });
const findToken = database.prepare('SELECT 1 FROM tokens WHERE digest = ?1');
const findOffers = database.prepare(`
  SELECT o.*, r.name, r.url, r.logo FROM cashback_offers o JOIN retailers r ON r.id = o.retailer_id
   WHERE o.id >= ?1 ORDER BY o.id LIMIT 101`);
const findTransactions = database.prepare(
  'SELECT * FROM transactions WHERE orgId = ?1 AND id >= ?2 ORDER BY id LIMIT 101',
);
// Without this hint, SQLite would scan by id and read nearly the whole table to find a few recent changes.
const findChanges = database.prepare(`
  SELECT * FROM transactions INDEXED BY transactions_by_update
   WHERE orgId = ?1 AND updatedAt > ?3 AND id >= ?2 ORDER BY id LIMIT 101`);
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const app = new Hono();
app.use(compress());
app.use(async (context, next) => {
  const token = context.req.header('Authorization')?.replace(/^Bearer /, '') ?? '';
  const digest = new Bun.CryptoHasher('sha256').update(token).digest('hex');
  if (findToken.get(digest) === null) return context.json({ error: 'unauthorized' }, 401);
  await next();
});

app.get('/v1/cashback-offers/', (context) => {
  const rows = findOffers.all(context.req.query('cursor') ?? FIRST_ID) as Row[];
  const items = rows.slice(0, 100).map((row) => ({
    id: row.id,
    featured: row.featured === 1,
    countries: JSON.parse(row.countries as string),
    cashbackPercentage: row.cashback_percentage,
    maximumFixedCommissionFee: row.maximum_fixed_commission_fee,
    description: row.description,
    category: row.category,
    termsAndExclusions: row.terms_and_exclusions,
    retailerId: row.retailer_id,
    logo: row.logo,
    url: row.url,
    name: row.name,
  }));
  return context.json({ data: items, cursor: rows[100]?.id });
});

app.get('/v1/transactions/', (context) => {
  const cursor = context.req.query('cursor') ?? FIRST_ID;
  const since = context.req.query('updatedAtGreaterThan');
  const rows = (
    since === undefined ? findTransactions.all(1, cursor) : findChanges.all(1, cursor, since)
  ) as Row[];
  const items = rows.slice(0, 100).map(({ orgId: _, ...transaction }) => transaction);
  return context.json({ data: items, cursor: rows[100]?.id });
});

Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: app.fetch });
