// What a competent team would write in a day: Hono on Bun, a query and JSON.stringify for each request, a token
// looked up by its digest, compression by the framework's own middleware. Not crippled: prepared statements, the
// indexes that its queries need, a cursor and no offset.
//   bun plain.ts DATABASE PORT

import { Database } from 'bun:sqlite';
import { Hono } from 'hono';
import { compress } from 'hono/compress';

const [path = '', port = ''] = process.argv.slice(2);
const database = new Database(path, { readonly: true });
const findToken = database.prepare('SELECT 1 FROM tokens WHERE digest = ?1');
const findOffers = database.prepare(`
  SELECT o.*, r.name, r.url, r.logo FROM cashback_offers o JOIN retailers r ON r.id = o.retailer_id
   WHERE o.id >= ?1 ORDER BY o.id LIMIT 101`);
const findTransactions = database.prepare(
  'SELECT * FROM transactions WHERE orgId = ?1 AND id >= ?2 ORDER BY id LIMIT 101',
);
// Left to itself, SQLite would walk by id, and read nearly everything for the few changes of the last hour.
const findChanges = database.prepare(`
  SELECT * FROM transactions INDEXED BY transactions_by_update
   WHERE orgId = ?1 AND updatedAt > ?3 AND id >= ?2 ORDER BY id LIMIT 101`);

const app = new Hono();
app.use(compress());
app.use(async (context, next) => {
  const token = context.req.header('Authorization')?.replace(/^Bearer /, '') ?? '';
  const digest = new Bun.CryptoHasher('sha256').update(token).digest('hex');
  if (findToken.get(digest) === null) return context.json({ error: 'unauthorized' }, 401);
  await next();
});

app.get('/v1/cashback-offers/', (context) => {
  const rows = findOffers.all(context.req.query('cursor') ?? '') as Record<string, unknown>[];
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
  const cursor = context.req.query('cursor') ?? '';
  const since = context.req.query('updatedAtGreaterThan');
  const found = since === undefined ? findTransactions.all(1, cursor) : findChanges.all(1, cursor, since);
  const rows = found as Record<string, unknown>[];
  const items = rows.slice(0, 100).map(({ orgId: _, ...transaction }) => transaction);
  return context.json({ data: items, cursor: rows[100]?.id });
});

Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: app.fetch });
