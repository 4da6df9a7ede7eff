// The result of a check by `offerbook doctor`: the finding, its severity, and the advice.

export type CheckState = 'ok' | 'warning' | 'fault';

export interface Check {
  readonly check: string;
  readonly state: CheckState;
  readonly found: string;
  /** Undefined for `ok`. */
  readonly advice?: string;
}

export function ok(check: string, found: string): Check {
  return { check, state: 'ok', found };
}

/** The checked part works, but will cause problems. */
export function warning(check: string, found: string, advice: string): Check {
  return { check, state: 'warning', found, advice };
}

/** The checked part does not work. */
export function fault(check: string, found: string, advice: string): Check {
  return { check, state: 'fault', found, advice };
}

export function worstOf(checks: readonly Check[]): CheckState {
  const states: readonly CheckState[] = ['fault', 'warning'];
  return states.find((state) => checks.some((check) => check.state === state)) ?? 'ok';
}
