// A project in a temporary folder where the package is installed, and a node with some data for it to call.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coupon, offer, promotion, retailer, transaction } from '../../../service/test/support/fixtures.ts';
import { TestNode } from '../../../service/test/support/test-node.ts';
import { installPackage } from './installed-package.ts';

/** Three retailers, each with an offer, a coupon and a promotion. There are also two transactions. */
const SHOPS = [
  offer(11),
  offer(12, { cashbackPercentage: 0.145 }),
  offer(13, { cashbackPercentage: 0, maximumFixedCommissionFee: 7.5 }),
].map((cashbackOffer, index) =>
  retailer(index + 1, {
    hostname: index === 0 ? 'www.greenthumb.example' : `www.r${index + 1}.example`,
    cashbackOffers: [cashbackOffer],
    coupons: [coupon(index + 21)],
    promotions: [promotion(index + 31)],
  }),
);

export async function startProject() {
  const [installed, node] = await Promise.all([installPackage(), TestNode.start()]);
  const tokens = { public: await node.token('public'), private: await node.token('private') };
  await node.catalogue(SHOPS);
  await node.transactions([transaction(1), transaction(2)]);
  return {
    installed,
    /** Replaces the address and tokens of the documentation with real ones. */
    forReal: (source: string) =>
      source
        .replaceAll('https://api.example', node.url)
        .replaceAll('ob_pub_…', tokens.public)
        .replaceAll('ob_prv_…', tokens.private),
    /** Writes a file of the project and returns its name. */
    write(name: string, source: string): string {
      writeFileSync(join(installed.folder, name), source);
      return name;
    },
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}
