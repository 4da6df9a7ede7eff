// Starts the explorer.

import { Explorer } from './explorer.ts';

const main = document.querySelector('main');
if (main === null) throw new Error('the page has no main element');
new Explorer(main).start();
