// Parses Accept and Accept-Encoding headers: names with weights from 0 to 1.

/** Browsers send 30 to 150 characters. Parsing 60,000 characters would block the process for milliseconds. */
const HEADER_LENGTH_MAX = 1_024;

/** A header that is too long counts as empty. */
export function parseQualities(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  if (header.length > HEADER_LENGTH_MAX) return qualities;
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const value = q === undefined ? 1 : Number(q);
    if (name !== '') qualities.set(name, value >= 0 && value <= 1 ? value : 0);
  }
  return qualities;
}

/** True for browsers, which prefer HTML. Other programs accept JSON or any type, or omit the header. */
export function prefersHtml(accept: string | null): boolean {
  if (accept === null) return false;
  const qualities = parseQualities(accept);
  const anything = qualities.get('*/*') ?? 0;
  const json = ['application/problem+json', 'application/json', 'application/*'].map(
    (type) => qualities.get(type) ?? anything,
  );
  return (qualities.get('text/html') ?? 0) > Math.max(...json);
}
