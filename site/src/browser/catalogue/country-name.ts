// Converts country codes to English names.

const NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** Returns the code itself if it is unknown. */
export function countryName(code: string): string {
  try {
    const name = NAMES.of(code) ?? code;
    return name === 'Unknown Region' ? code : name;
  } catch {
    return code;
  }
}
