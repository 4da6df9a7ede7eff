// Renders a Mermaid sequence diagram as a list of its steps, which does not need a drawing library and works with screen readers.

import { Html, html } from '../../html.ts';

/** `escaped` is the diagram's source, already escaped as HTML. */
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
    return note === undefined ? [] : [html`<li class="muted">${nameOf(over)}: ${new Html(note)}</li>`];
  });
  return html`<ol class="steps panel stack">${steps}</ol>`;
}
