// Countries by name, for people.

const NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** The code itself when it is none of a country. */
export function countryName(code: string): string {
  try {
    const name = NAMES.of(code) ?? code;
    return name === 'Unknown Region' ? code : name;
  } catch {
    return code;
  }
}
