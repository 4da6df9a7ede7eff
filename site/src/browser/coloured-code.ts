// Colours code in the browser.

import { codeParts } from '../code-parts.ts';
import { element } from './element.ts';

export function colouredNodes(code: string, language: string): (string | Node)[] {
  return codeParts(code, language).map(({ kind, text }) =>
    kind === undefined ? text : element(`span.code-${kind}`, text),
  );
}
