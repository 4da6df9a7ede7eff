// A node with two retailers and their deals, and requests for its activation links.

import { printTimestamp } from '@offerbook/wire/timestamp.ts';
import type { Uuid } from '@offerbook/wire/uuid.ts';
import type { Link } from '../../src/domain/catalogue.ts';
import type { Click, ClickId } from '../../src/domain/click.ts';
import { coupon, id, offer, promotion, retailer } from './fixtures.ts';
import { TestNode, type TestNodeOptions } from './test-node.ts';

export const NOW_MS = Date.UTC(2026, 10, 15, 12);
export const BROWSER = {
  'User-Agent':
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Safari/604.1',
};
export const NETWORK = 'https://network.example/click?shop=1&sub={click}&to={url}';
export const USER = 'user-8842';

export class ActivationNode {
  readonly node: TestNode;
  readonly orgId: Uuid;

  constructor(node: TestNode, orgId: Uuid) {
    this.node = node;
    this.orgId = orgId;
  }

  static async start(options: TestNodeOptions & { links?: readonly Link[] } = {}): Promise<ActivationNode> {
    const node = await TestNode.start({ clock: () => NOW_MS, ...options });
    const { publicId } = await node.organisation();
    await node.catalogue([
      retailer(1, {
        cashbackOffers: [offer(11)],
        coupons: [
          coupon(21),
          coupon(22, { endDate: printTimestamp(NOW_MS) }),
          coupon(23, { startDate: printTimestamp(NOW_MS + 1) }),
        ],
        promotions: [promotion(31)],
      }),
      retailer(2, {
        hostname: 'München.example',
        url: 'https://münchen.example/ü?a=b',
        cashbackOffers: [offer(12)],
      }),
    ]);
    const { links = [{ id: id(1), kind: 'retailer', template: NETWORK }] } = options;
    await node.links(links);
    return new ActivationNode(node, publicId);
  }

  query(with_: Record<string, string> = {}): string {
    return `?${new URLSearchParams({ orgId: this.orgId, passbackUid: USER, ...with_ })}`;
  }

  /** The link that activates the coupon 21. */
  coupon(with_: Record<string, string> = {}): string {
    return `/v1/coupons/${id(21)}/activate/${this.query(with_)}`;
  }

  /** Activates with POST, and returns the path of the link in the response. */
  async prepare(path = this.coupon(), headers?: Record<string, string>): Promise<string> {
    const { url } = (await (await this.send('POST', path, headers)).json()) as { url: string };
    return url.slice(this.node.url.length);
  }

  async send(method: string, path: string, headers: Record<string, string> = BROWSER): Promise<Response> {
    return fetch(this.node.url + path, { method, headers, redirect: 'manual' });
  }

  get(path: string, headers?: Record<string, string>) {
    return this.send('GET', path, headers);
  }

  /** True if a click of a new user, forwarded for this address, is tracked. */
  async isTracked(address: string): Promise<boolean> {
    const path = this.coupon({ passbackUid: crypto.randomUUID() });
    const response = await this.get(path, { ...BROWSER, 'X-Forwarded-For': address });
    return clickIn(response.headers.get('Location')) !== '';
  }

  clicks(): Promise<Click[]> {
    return this.node.stores.clicks.list(1_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]();
  }
}

export function clickIn(url: string | null): ClickId {
  return (/[?&]sub=([0-9A-Za-z]{22})(&|$)/.exec(url ?? '')?.[1] ?? '') as ClickId;
}
