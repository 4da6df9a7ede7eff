// Records the stamp of every import and whether it was acknowledged. Checks that an import that begins after another was
// acknowledged has a greater stamp, and that a row's stamp is its import's.

import { printTimestamp, type Timestamp } from '@offerbook/wire/timestamp.ts';
import type { Transaction } from '@offerbook/wire/transaction.ts';
import type { ImportPart, ImportResult } from '../traffic/import-order.ts';
import type { ClockWitness } from '../traffic/page-reader.ts';
import { ORGANISATIONS, type OrganisationName } from './world.ts';

export interface Entry extends ImportPart {
  readonly stamped: (stampMs: number) => void;
  readonly violation: (what: string) => void;
  readonly acknowledge: (result: ImportResult) => void;
}

export class Ledger {
  /** Organisation → acknowledged imports. Every read that begins after an import sees it. */
  readonly #witnesses: ReadonlyMap<OrganisationName, ClockWitness>;
  /** Acknowledged imports that changed something, oldest first. */
  readonly acknowledged: ImportResult[] = [];
  readonly #stampsByImport = new Map<number, Timestamp>();
  readonly #stamps = new Set<string>();
  readonly #onViolation: (what: string) => void;
  #lastNumber = 0;

  constructor(onViolation: (what: string) => void) {
    this.#onViolation = onViolation;
    this.#witnesses = new Map(ORGANISATIONS.map((name) => [name, { floor: '' }]));
  }

  witness(organisation: OrganisationName): ClockWitness {
    return this.#witnesses.get(organisation) as ClockWitness;
  }

  open(organisation: OrganisationName): Entry {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const witness = this.witness(organisation);
    const before = witness.floor;
    const violation = (what: string) => this.#onViolation(`${organisation}: ${what}`);
    return {
      number,
      organisation,
      violation,
      stamped: (stampMs) => this.#stampsByImport.set(number, printTimestamp(stampMs)),
      acknowledge: (result) => {
        if (result.changes === 0) return;
        this.acknowledged.push(result);
        const stamp = printTimestamp(result.stampMs);
        if (stamp <= before) violation(`import ${number} was stamped ${stamp} when ${before} had been seen`);
        if (this.#stamps.has(`${organisation} ${stamp}`)) violation(`two imports were stamped ${stamp}`);
        this.#stamps.add(`${organisation} ${stamp}`);
        if (stamp > witness.floor) witness.floor = stamp;
      },
    };
  }

  /** Each row must carry the stamp of the import that last changed it. */
  check(rows: Iterable<Transaction>): void {
    for (const { id, updatedAt, passbackData } of rows) {
      const stamp = this.#stampsByImport.get(Number(passbackData?.replace('import ', '')));
      if (stamp !== updatedAt)
        this.#onViolation(`${id} carries ${updatedAt}, its ${passbackData} was ${stamp}`);
    }
  }
}
