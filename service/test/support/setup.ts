// Runs once before all tests: a browser that is missing is installed now, not within the time limit of
// whichever test wants it first.

import { launchBrowser } from './browser.ts';

const browser = await launchBrowser();
await browser.close();
