// Version and commit of the running program.

import manifest from '../../package.json';

/** Replaced by the build. Undefined when the program runs from a checkout. */
declare const OFFERBOOK_COMMIT: string;

export const VERSION = manifest.version;
export const COMMIT = typeof OFFERBOOK_COMMIT === 'undefined' ? undefined : OFFERBOOK_COMMIT;

/** What `offerbook --version` prints. */
export const VERSION_TEXT = COMMIT === undefined ? VERSION : `${VERSION} (commit ${COMMIT})`;
