// The result of a health check: its state, a sentence about what was found, and what to do.

/** `warning`: works now, but will cause problems. `fault`: does not work. */
export type CheckState = 'ok' | 'warning' | 'fault';

export interface Verdict {
  readonly state: CheckState;
  readonly found: string;
  /** Undefined for `ok`. */
  readonly advice?: string;
}

export interface Check extends Verdict {
  readonly check: string;
}

/** Ordered by severity. A state's index is its value in the metrics. */
export const CHECK_STATES: readonly CheckState[] = ['ok', 'warning', 'fault'];

export function ok(found: string): Verdict {
  return { state: 'ok', found };
}

export function warning(found: string, advice: string): Verdict {
  return { state: 'warning', found, advice };
}

export function fault(found: string, advice: string): Verdict {
  return { state: 'fault', found, advice };
}

export function worstOf(verdicts: readonly Verdict[]): CheckState {
  return CHECK_STATES.findLast((state) => verdicts.some((verdict) => verdict.state === state)) ?? 'ok';
}
