// Parses amounts with a decimal comma or thousands separators, which some networks use.

import { type Amount, parseAmount } from '@offerbook/wire/amount.ts';

/**
 * Parses an amount with a decimal comma or a decimal point: `4,05`, `1.234,56`, `1,234.56`. Returns undefined if the amount
 * is ambiguous, such as `1,234`.
 */
export function parseEitherMark(text: string): Amount | undefined {
  const mark = text.at(Math.max(text.lastIndexOf(','), text.lastIndexOf('.')));
  if (!text.includes(',')) return parseAmount(text);
  if (mark === '.') return isGrouped(text, ',', '.') ? parseAmount(text.replaceAll(',', '')) : undefined;
  if (text.includes('.')) return isGrouped(text, '.', ',') ? parseCommaAmount(text) : undefined;
  if (/^-?\d{1,3}(?:,\d{3}){2,}$/.test(text)) return parseAmount(text.replaceAll(',', ''));
  return /,\d{3}$/.test(text) ? undefined : parseCommaAmount(text);
}

/** Parses an amount with a decimal comma; points are allowed only as thousands separators. */
export function parseCommaAmount(text: string): Amount | undefined {
  if (text.includes('.') && !isGrouped(text, '.', ',')) return undefined;
  return parseAmount(text.replaceAll('.', '').replace(',', '.'));
}

/** True if every group of thousands has a separator, and at most one decimal mark follows. */
function isGrouped(text: string, separator: ',' | '.', mark: ',' | '.'): boolean {
  return new RegExp(`^-?\\d{1,3}(?:[${separator}]\\d{3})+(?:[${mark}]\\d+)?$`).test(text);
}
