// The version as `offerbook --version` prints it.

import { COMMIT, VERSION } from '../domain/build.ts';

export const VERSION_WORDS = COMMIT === undefined ? VERSION : `${VERSION} (commit ${COMMIT})`;
