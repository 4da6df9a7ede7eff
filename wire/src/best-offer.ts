// Ranks cashback offers by what they pay.

interface Rate {
  readonly cashbackPercentage: number;
  readonly maximumFixedCommissionFee: number | null;
}

/** Returns the offer with the highest percentage or, if all amounts are fixed, the highest amount. */
export function bestOffer<Offer extends Rate>(offers: readonly Offer[]): Offer | undefined {
  let best: Offer | undefined;
  for (const offer of offers) if (best === undefined || compareOffers(offer, best) < 0) best = offer;
  return best;
}

/** Sorts the better offer first. A percentage and an amount cannot be compared, so percentages come first. */
export function compareOffers(a: Rate, b: Rate): number {
  const [fixedA, fixedB] = [a.maximumFixedCommissionFee, b.maximumFixedCommissionFee];
  if (fixedA === null && fixedB === null) return b.cashbackPercentage - a.cashbackPercentage;
  return (fixedB ?? Infinity) - (fixedA ?? Infinity);
}
