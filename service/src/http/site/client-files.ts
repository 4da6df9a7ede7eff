// The client library, as this very service offers it: a package that npm installs from its address, and one ES module for
// a page. Both fit the service that they come from.

import { StaticFile } from '../content/static-file.ts';
import type { Route } from '../router.ts';
import { bundle, packClient } from './embedded.ts';
import { fileRoute } from './file-route.ts';

export const CLIENT_PACKAGE_PATH = '/client/offerbook-client.tgz';
export const CLIENT_MODULE_PATH = '/client/offerbook-client.js';

export function clientRoutes(): Route[] {
  // Open to pages of all sites: a module is loaded by the rules of CORS. Not kept for long: the next release has the same
  // address.
  const options = { cacheControl: 'public, max-age=300', openToBrowsers: true };
  return [
    fileRoute(CLIENT_MODULE_PATH, options, async () => {
      return new StaticFile(await bundle(CLIENT_MODULE_PATH), {
        'Content-Type': 'text/javascript; charset=utf-8',
      });
    }),
    fileRoute(CLIENT_PACKAGE_PATH, options, async () => {
      return new StaticFile(await packClient(), { 'Content-Type': 'application/gzip' });
    }),
  ];
}
