// Texts of networks as ours: without markup, and without saying the same thing twice.

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: ' ',
  quot: '"',
};

/** The text of some HTML. Nothing here makes it safe to show as HTML: it is shown as text. */
export function plainText(html: string): string {
  return html
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/h\d)[^>]*>/gi, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(\w+|#\d+|#x[\da-f]+);/gi, (entity, name: string) => decodeEntity(entity, name))
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ *\n\s*/g, '\n')
    .trim();
}

function decodeEntity(entity: string, name: string): string {
  if (!name.startsWith('#')) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? entity) : entity;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}

/** `10% off bulbs: On all bulbs`, without parts that are empty or already said. */
export function joinTexts(...parts: readonly (string | undefined)[]): string {
  const said: string[] = [];
  for (const part of parts.map((text) => text?.trim() ?? '')) {
    if (part !== '' && !said.includes(part)) said.push(part);
  }
  return said.join(': ');
}
