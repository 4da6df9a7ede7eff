// The version that `offerbook --version` prints.

import { COMMIT, VERSION } from '../domain/build.ts';

export const VERSION_TEXT = COMMIT === undefined ? VERSION : `${VERSION} (commit ${COMMIT})`;
