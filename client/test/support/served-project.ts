// A project in a temporary folder where the package is installed, and a service with some data for it to call.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  coupon,
  id,
  offer,
  promotion,
  retailer,
  transaction,
} from '../../../service/test/support/fixtures.ts';
import { type InstalledPackage, installPackage } from './installed-package.ts';
import { ServiceProcess } from './service-process.ts';

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

interface Tokens {
  readonly public: string;
  readonly private: string;
}

export class ServedProject implements AsyncDisposable {
  readonly installed: InstalledPackage;
  readonly #service: ServiceProcess;
  readonly #tokens: Tokens;

  private constructor(installed: InstalledPackage, service: ServiceProcess, tokens: Tokens) {
    this.installed = installed;
    this.#service = service;
    this.#tokens = tokens;
  }

  static async start(): Promise<ServedProject> {
    const [installed, service] = await Promise.all([installPackage(), ServiceProcess.start()]);
    await service.importCatalogue(SHOPS);
    const tokens = { public: await service.token('public'), private: await service.token('private') };
    await service.importTransactions([transaction(1), transaction(2)]);
    const authorization = { headers: { Authorization: `Bearer ${tokens.public}` } };
    while (!(await (await fetch(`${service.url}/v1/retailers/`, authorization)).text()).includes(id(3)))
      await Bun.sleep(10);
    return new ServedProject(installed, service, tokens);
  }

  /** Replaces the address and tokens of the documentation with real ones. */
  forReal(source: string): string {
    return source
      .replaceAll('https://api.example', this.#service.url)
      .replaceAll('ob_pub_…', this.#tokens.public)
      .replaceAll('ob_prv_…', this.#tokens.private);
  }

  /** Writes a file of the project and returns its name. */
  write(name: string, source: string): string {
    writeFileSync(join(this.installed.folder, name), source);
    return name;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#service[Symbol.asyncDispose]();
  }
}
