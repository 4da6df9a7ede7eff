// Starts the explorer.

import { PageToken } from '../page-token.ts';
import { openDrawing } from './drawing.ts';
import { Explorer } from './explorer.ts';

const main = document.querySelector('main');
if (main === null) throw new Error('the page has no main element');
const token = new PageToken(document, sessionStorage);
const feedPath = document.querySelector<HTMLMetaElement>('meta[name="offerbook-feed"]')?.content;
new Explorer({ main, token, drawing: openDrawing(document, location.origin, token), feedPath }).start();
