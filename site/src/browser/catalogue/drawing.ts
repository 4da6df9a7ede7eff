// The page's settings that screens need to render retailers: allowed logos, currency, API dialog and activation links.

import type { PageToken } from '../page-token.ts';
import { type ActivateLink, activateLinks } from './activate-link.ts';
import { type ApiButton, apiButtons } from './api-dialog.ts';
import { amountPrinter, type PrintAmount } from './cashback.ts';
import { type DrawLogo, logoDrawer } from './logo.ts';

export interface Drawing {
  readonly drawLogo: DrawLogo;
  readonly printAmount: PrintAmount;
  readonly apiButton: ApiButton;
  readonly activateLink: ActivateLink;
}

export function openDrawing(page: Document, ownOrigin: string, token: PageToken): Drawing {
  const currency = page.querySelector<HTMLMetaElement>('meta[name="offerbook-currency"]')?.content;
  return {
    drawLogo: logoDrawer(page, ownOrigin),
    printAmount: amountPrinter(currency),
    apiButton: apiButtons(ownOrigin, () => token.text),
    activateLink: activateLinks(page),
  };
}
