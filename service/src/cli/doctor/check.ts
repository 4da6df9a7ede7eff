// The result of one check of `offerbook doctor`: what was found, how bad that is, and what to do about it.

export type CheckState = 'ok' | 'warning' | 'fault';

export interface Check {
  readonly check: string;
  readonly state: CheckState;
  readonly found: string;
  /** Only where there is something to do. */
  readonly advice?: string;
}

export function ok(check: string, found: string): Check {
  return { check, state: 'ok', found };
}

/** Works now, and will make trouble. */
export function warning(check: string, found: string, advice: string): Check {
  return { check, state: 'warning', found, advice };
}

/** Does not work. */
export function fault(check: string, found: string, advice: string): Check {
  return { check, state: 'fault', found, advice };
}

/** The worst of them. */
export function worstOf(checks: readonly Check[]): CheckState {
  const states: readonly CheckState[] = ['fault', 'warning'];
  return states.find((state) => checks.some((check) => check.state === state)) ?? 'ok';
}
