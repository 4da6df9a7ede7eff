// Converts a network's descriptions to plain text without markup or repetition.

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: ' ',
  quot: '"',
};

/** HTML elements, including obsolete ones and the paragraph element of Microsoft Word. */
const ELEMENTS =
  `a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink blockquote body br
  button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
  fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
  input ins kbd label legend li link main map mark marquee menu meta meter nav nobr noframes noscript o:p object ol
  optgroup option output p param picture pre progress q rp rt ruby s samp script search section select slot small source
  span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u
  ul var video wbr`.replaceAll(/\s+/g, '|');

/**
 * Comments, document types and tags of known elements. Any other `<` is text, as in "orders <€50". A match never extends
 * past another `<` outside quotes, so matching takes linear time even if no tag is closed.
 */
const COMMENT = /<!--(?:(?!<!--)[\s\S])*?-->|<!doctype[^<>]*>/gi;
const TAG = new RegExp(`<(/?)(${ELEMENTS})((?:[\\s/](?:[^<>"']|"[^"]*"|'[^']*')*)?)>`, 'gi');
/** No attributes, an attribute with a value, or a boolean attribute. Anything else is text, as in `a <b and c> d`. */
const ATTRIBUTES = /^[\s/]*$|=|^\s+(?:compact|hidden|noshade|nowrap|open|reversed)\b/i;
const ENDS_LINE = /^(?:br|\/(?:p|div|li|h\d))$/i;

/**
 * Converts HTML to plain text. Text without markup keeps its white space. The result is not safe as HTML; display it as
 * text.
 */
export function plainText(html: string): string {
  const text = html
    .replaceAll(COMMENT, '')
    .replaceAll(TAG, (tag, slash: string, name: string, attributes: string) => {
      if (!ATTRIBUTES.test(attributes)) return tag;
      return ENDS_LINE.test(slash + name) ? '\n' : '';
    });
  const decoded = text.replaceAll(/&(\w+|#\d+|#x[\da-f]+);/gi, decodeEntity);
  if (text === html) return decoded;
  return decoded
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n\s*/g, '\n')
    .trim();
}

function decodeEntity(entity: string, name: string): string {
  if (!name.startsWith('#')) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? entity) : entity;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code > 0 && code <= 0x10ffff && !isSurrogate ? String.fromCodePoint(code) : entity;
}

/** Joins parts as in `10% off bulbs: On all bulbs`, omitting empty and repeated parts. */
export function joinTexts(...parts: readonly (string | undefined)[]): string {
  const texts = new Set(parts.map((text) => text?.trim() ?? ''));
  texts.delete('');
  return [...texts].join(': ');
}
