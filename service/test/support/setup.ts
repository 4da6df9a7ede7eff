// npm run test:setup: installs the test dependencies that npm ci does not, so that installation does not count towards the
// time limit of a test.

import { launchBrowser } from './browser.ts';
import { requireGenerators } from './generators.ts';
import { installPrograms, lacks, PROGRAMS } from './programs.ts';

installPrograms(Object.values(PROGRAMS));
requireGenerators();
if (!lacks('chromium')) await (await launchBrowser()).close();
