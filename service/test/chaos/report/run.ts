// One run of a scenario on one database: its seed, its time, its options, and everything that the scenario reports.

import { Random } from '@offerbook/sandbox/random.ts';
import type { TestDatabase } from '../../support/databases.ts';
import type { Options, Values } from '../scenario.ts';

export type Cells = Readonly<Record<string, string | number>>;

export interface RunSettings {
  readonly seed: number;
  readonly minutes: number;
  readonly values?: Values;
  readonly database: TestDatabase;
  /** Prints a line while the run goes on. */
  readonly print?: (line: string) => void;
}

const LISTED_PER_KIND_MAX = 10;

/** At the end of the run, it disposes of everything that was added with `use` or `defer`, in reverse order. */
export class Run extends AsyncDisposableStack {
  readonly seed: number;
  readonly minutes: number;
  readonly print: (line: string) => void;
  /** A scenario may create other databases itself. */
  readonly database: TestDatabase;
  #endMs: number | undefined;
  readonly #values: Values;
  readonly #counts = new Map<string, number>();
  /** The report's table. All rows have the same columns. */
  readonly rows: Cells[] = [];
  readonly #violations = new Map<string, string[]>();

  constructor(settings: RunSettings, options: Options = {}) {
    super();
    this.seed = settings.seed;
    this.minutes = settings.minutes;
    this.print = settings.print ?? (() => {});
    this.database = settings.database;
    const defaults = Object.entries(options).map(([name, option]) => [name, option.default]);
    this.#values = { ...Object.fromEntries(defaults), ...settings.values };
  }

  /** The same sequence for the same seed and parts, so that each actor's decisions depend on the seed alone. */
  random(...parts: (string | number)[]): Random {
    return new Random(this.seed, ...parts);
  }

  /** The run should end at this value of performance.now(). The time begins with the first use, after the scenario's set-up. */
  get endMs(): number {
    this.#endMs ??= performance.now() + this.minutes * 60_000;
    return this.#endMs;
  }

  /** False at the first use, so that every run has a first round. */
  get isOver(): boolean {
    const nowMs = performance.now();
    return nowMs > this.endMs;
  }

  /** The option's value, or its default. */
  text(option: string): string {
    return String(this.#values[option] ?? '');
  }

  number(option: string): number {
    const value = Number(this.text(option));
    if (!Number.isFinite(value)) throw new Error(`--${option} must be a number`);
    return value;
  }

  /** True with --busy: other programs need CPU time too. */
  get isBusy(): boolean {
    return this.#values.busy === true;
  }

  /** The items named by the option, which may be repeated; all items if it is absent. */
  choose<Item extends string | { readonly name: string }>(
    option: string,
    items: readonly Item[],
  ): readonly Item[] {
    const value = this.#values[option];
    if (value === undefined) return items;
    const names = [value].flat().map(String);
    const nameOf = (item: Item) => (typeof item === 'string' ? item : item.name);
    const unknown = names.find((name) => !items.some((item) => nameOf(item) === name));
    if (unknown !== undefined)
      throw new Error(`there is no ${option} ${unknown}; choose from ${items.map(nameOf).join(', ')}`);
    return items.filter((item) => names.includes(nameOf(item)));
  }

  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  /** Reports a broken guarantee. `kind` is one or two words; the report lists the first violations of each kind. */
  violation(kind: string, what: string): void {
    const listed = this.#violations.get(kind) ?? [];
    this.#violations.set(kind, [...listed, what]);
  }

  /** Reports a violation unless the guarantee holds. `saw` is what was measured. */
  require(guarantee: string, holds: boolean, saw: unknown = ''): void {
    if (!holds)
      this.violation('BROKEN', `${guarantee} ${typeof saw === 'string' ? saw : JSON.stringify(saw)}`.trim());
  }

  /** Adds a measured value to the report. */
  figure(what: string, value: unknown, unit = '', max: number | '' = ''): void {
    const isInteger = typeof value !== 'number' || Number.isInteger(value);
    this.rows.push({
      what,
      value: isInteger ? JSON.stringify(value) : value.toFixed(1),
      unit,
      'at most': max,
    });
  }

  /** Adds a measured value to the report, and requires a limit. A busy machine may take longer. */
  limit(what: string, value: number, max: number, unit: 's' | 'ms' | 'MB'): void {
    this.figure(what, value, unit, max);
    if (unit === 'MB') this.require(what, value <= max, `${value} MB`);
    else this.requireWhenIdle(what, value <= max, `${value} ${unit}`);
  }

  /** Requires something that a busy machine may not reach. */
  requireWhenIdle(guarantee: string, holds: boolean, saw: unknown): void {
    if (!this.isBusy) this.require(guarantee, holds, saw);
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  get violations(): string[] {
    return [...this.#violations].flatMap(([kind, all]) => [
      ...all.slice(0, LISTED_PER_KIND_MAX).map((what) => `${kind}: ${what}`),
      ...(all.length > LISTED_PER_KIND_MAX ? [`${kind}: ${all.length} in all`] : []),
    ]);
  }
}
