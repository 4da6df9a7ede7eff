// An implementation that a competent team could write in a day: Hono on Bun, one query and JSON.stringify per request, tokens
// looked up by digest, and compression by the framework's middleware. Its queries are in plain-tables.ts.
//   bun plain.ts DATABASE PORT

import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { postgresTables, sqliteTables } from './plain-tables.ts';

const [database = '', port = ''] = process.argv.slice(2);
const tables = database.startsWith('postgres') ? postgresTables(database) : sqliteTables(database);
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const app = new Hono();
app.use(compress());
app.use(async (context, next) => {
  const token = context.req.header('Authorization')?.replace(/^Bearer /, '') ?? '';
  const digest = new Bun.CryptoHasher('sha256').update(token).digest('hex');
  if (!(await tables.hasToken(digest))) return context.json({ error: 'unauthorized' }, 401);
  await next();
});

app.get('/v1/cashback-offers/', async (context) => {
  const rows = await tables.findOffers(context.req.query('cursor') ?? FIRST_ID);
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

app.get('/v1/transactions/', async (context) => {
  const cursor = context.req.query('cursor') ?? FIRST_ID;
  const rows = await tables.findTransactions(cursor, context.req.query('updatedAtGreaterThan'));
  const items = rows.slice(0, 100).map(({ orgId: _, ...transaction }) => transaction);
  return context.json({ data: items, cursor: rows[100]?.id });
});

Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: app.fetch });
