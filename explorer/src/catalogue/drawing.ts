// What screens need from the page to draw retailers: the logos that it may load, and how it prints amounts.

import { amountPrinter, type PrintAmount } from './cashback.ts';
import { type DrawLogo, logoDrawer } from './logo.ts';

export interface Drawing {
  readonly drawLogo: DrawLogo;
  readonly printAmount: PrintAmount;
}

export function openDrawing(page: Document, ownOrigin: string): Drawing {
  const currency = page.querySelector<HTMLMetaElement>('meta[name="offerbook-currency"]')?.content;
  return { drawLogo: logoDrawer(page, ownOrigin), printAmount: amountPrinter(currency) };
}
