// What `offerbook --version` prints: the version of the package, and the commit that it was built from.

import manifest from '../../package.json';

/** The build puts the commit in the place of this name. In a checkout nothing does: git knows the commit there. */
declare const OFFERBOOK_COMMIT: string;

export const VERSION_WORDS =
  typeof OFFERBOOK_COMMIT === 'undefined'
    ? manifest.version
    : `${manifest.version} (commit ${OFFERBOOK_COMMIT})`;
