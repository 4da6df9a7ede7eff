// HTML templates. Every value is escaped unless it is an Html object, so a page cannot omit escaping by accident.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | string | number | undefined | readonly (Html | undefined)[];

export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(print)));
}

function print(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  return typeof value === 'object' ? value.map(print).join('') : Bun.escapeHTML(value);
}
