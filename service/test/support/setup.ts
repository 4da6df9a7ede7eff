// npm run test:setup: installs what tests need and npm ci does not bring, so that no test spends its time limit on it.

import { launchBrowser } from './browser.ts';
import { requireGenerators } from './generators.ts';
import { installPrograms, lacks, PROGRAMS } from './programs.ts';

installPrograms(Object.values(PROGRAMS));
requireGenerators();
if (!lacks('chromium')) await (await launchBrowser()).close();
