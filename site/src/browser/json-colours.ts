// Highlights JSON: splits it into nodes with a class for each kind of token. Other text is returned unchanged.

import { element } from './element.ts';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

export function colouredJson(text: string): (string | Node)[] {
  const nodes: (string | Node)[] = [];
  let end = 0;
  for (const { 0: token, 1: quoted, 2: colon, 3: number, index } of text.matchAll(TOKEN)) {
    nodes.push(text.slice(end, index));
    end = index + token.length;
    if (quoted === undefined) nodes.push(span(number === undefined ? 'word' : 'number', token));
    else nodes.push(span(colon === undefined ? 'text' : 'name', quoted), colon ?? '');
  }
  nodes.push(text.slice(end));
  return nodes;
}

function span(kind: 'name' | 'text' | 'number' | 'word', text: string): HTMLElement {
  return element('span', { class: `code-${kind}` }, text);
}
