// Creates DOM elements. Strings become text nodes, never markup, which Trusted Types would reject.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;
type Child = Node | string | undefined;

/**
 * `selector` is a tag name, with classes if there are any: `p.muted`. An attribute set to true has no value; one set to false or
 * undefined is omitted.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  selector: Tag | `${Tag}.${string}`,
  ...content: readonly [Attributes, ...Child[]] | readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const [tag, ...classes] = selector.split('.');
  const made = document.createElement(tag as Tag);
  if (classes.length > 0) made.className = classes.join(' ');
  for (const part of content) {
    if (part instanceof Node || typeof part === 'string') made.append(part);
    else setAttributes(made, part ?? {});
  }
  return made;
}

function setAttributes(made: HTMLElement, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value));
  }
}

export function button(label: string, onPress: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', onPress);
  return made;
}

/** Isolates imported text, so that its bidirectional characters do not affect the rest of the line. */
export function isolated(text: string): HTMLElement {
  return element('bdi', {}, text);
}

/** Focusable, so that it can be scrolled with the keyboard. */
export function codeBlock(...content: readonly Child[]): HTMLElement {
  return element('pre', { tabindex: 0 }, element('code', {}, ...content));
}

/** Parses a URL; undefined if it is invalid. (Safari before 17 lacks `URL.canParse`.) */
export function findUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Links to another site, without a referrer and without access to this window. Returns only the label if the URL is not http or
 * https. Imports reject such URLs too.
 */
export function externalLink(url: string, label: Node | string, className: string): HTMLElement {
  return /^https?:$/.test(findUrl(url)?.protocol ?? '')
    ? element('a', { class: className, href: url, target: '_blank', rel: 'noopener noreferrer' }, label)
    : element('span', label);
}
