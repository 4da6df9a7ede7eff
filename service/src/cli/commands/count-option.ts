// Whole numbers as people write them on a command line.

import { BadInput } from '../../domain/failures.ts';

const COUNT_MAX = 1e9;

export function parseCount(option: string, text: string): number {
  if (!/^\d{1,10}$/.test(text) || Number(text) < 1 || Number(text) > COUNT_MAX) {
    throw new BadInput(`${option} must be a whole number from 1 to ${COUNT_MAX}, not "${text}"`);
  }
  return Number(text);
}
