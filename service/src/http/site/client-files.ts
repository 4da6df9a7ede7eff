// The client library, as this very service offers it: a package that npm installs from its address, and one ES module for
// a page. Both fit the service that they come from.

import { StaticFile } from '../content/static-file.ts';
import type { Route } from '../router.ts';
import { bundle, packClient } from './embedded.ts';

export const CLIENT_PACKAGE_PATH = '/client/offerbook-client.tgz';
export const CLIENT_MODULE_PATH = '/client/offerbook-client.js';

export function clientRoutes(): Route[] {
  return [
    route(CLIENT_MODULE_PATH, async () => {
      return new StaticFile(await bundle(CLIENT_MODULE_PATH), {
        'Content-Type': 'text/javascript; charset=utf-8',
      });
    }),
    route(CLIENT_PACKAGE_PATH, async () => {
      return new StaticFile(await packClient(), { 'Content-Type': 'application/gzip' });
    }),
  ];
}

/** Open to pages of all sites: a module is loaded by the rules of CORS. What is in it is no secret. */
function route(path: string, make: () => Promise<StaticFile>): Route {
  let made: Promise<StaticFile> | undefined;
  return {
    method: 'GET',
    path,
    openToBrowsers: true,
    async answer(exchange) {
      // A failure stays: in a checkout that cannot make it, nobody shall have it tried with every request.
      made ??= make();
      // Not for long: the next release has the same address.
      return (await made).answer(exchange, 'public, max-age=300');
    },
  };
}
