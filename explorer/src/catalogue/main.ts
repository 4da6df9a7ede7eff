// Starts the explorer.

import { PageToken } from '../page-token.ts';
import { Explorer } from './explorer.ts';
import { logoDrawer } from './logo.ts';

const main = document.querySelector('main');
if (main === null) throw new Error('the page has no main element');
new Explorer(main, new PageToken(document, sessionStorage), logoDrawer(document, location.origin)).start();
