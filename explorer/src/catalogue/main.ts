// Starts the explorer.

import { PageToken } from '../page-token.ts';
import { openDrawing } from './drawing.ts';
import { Explorer } from './explorer.ts';

const main = document.querySelector('main');
if (main === null) throw new Error('the page has no main element');
new Explorer(main, new PageToken(document, sessionStorage), openDrawing(document, location.origin)).start();
