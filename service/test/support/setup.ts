// Runs once before all tests: a program that is missing is installed now, not within the time limit of
// whichever test wants it first.

import { launchBrowser } from './browser.ts';
import { requireGenerators } from './generators.ts';
import { requirePgBouncer, requirePromtool, requireShells } from './programs.ts';
import { requireProxies } from './reverse-proxy.ts';

requireProxies();
requirePromtool();
requirePgBouncer();
requireShells();
requireGenerators();
const browser = await launchBrowser();
await browser.close();
