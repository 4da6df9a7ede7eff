// Starts the explorer.

import { Explorer } from './explorer.ts';

const main = document.querySelector<HTMLElement>('.explorer');
if (main === null) throw new Error('the page has no element for the explorer');
new Explorer(main).start();
