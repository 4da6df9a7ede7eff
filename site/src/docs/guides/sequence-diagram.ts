// A sequence diagram of a document, which the repository shows as a picture, as a list of its steps: the pages load no
// library that could draw it, and a list can be read aloud.

import { Html, html } from '../../html.ts';

/** `escaped` is the source as HTML, as everything inside of a document is by then. */
export function sequenceSteps(escaped: string): Html {
  const lines = escaped.split('\n').map((line) => line.trim());
  const names = new Map(
    lines.flatMap((line) => {
      const [, short, name] = /^participant (\w+) as (.+)$/.exec(line) ?? [];
      return short === undefined || name === undefined ? [] : [[short, name] as const];
    }),
  );
  const nameOf = (short: string) => new Html(names.get(short) ?? short);
  const steps = lines.flatMap((line) => {
    const [, from = '', to = '', words] = /^(\w+)--?&gt;&gt;(\w+): (.+)$/.exec(line) ?? [];
    if (words !== undefined)
      return [html`<li><strong>${nameOf(from)} → ${nameOf(to)}</strong>: ${new Html(words)}</li>`];
    const [, over = '', note] = /^Note over (\w+): (.+)$/.exec(line) ?? [];
    return note === undefined ? [] : [html`<li class="note">${nameOf(over)}: ${new Html(note)}</li>`];
  });
  return html`<ol class="steps">${steps}</ol>`;
}
