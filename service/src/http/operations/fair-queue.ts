// A queue that takes turns: between organisations, within an organisation between its tokens, and for each token in the
// order of arrival. However much one of them asks for, the others are next in turn.

export class FairQueue<Item> {
  readonly #items = new Set<Item>();
  /** The first in turn first. */
  readonly #branches = new Map<string, FairQueue<Item>>();

  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#branches.size === 0;
  }

  /** How many items have exactly this path. */
  count([key, ...rest]: readonly string[]): number {
    return key === undefined ? this.#items.size : (this.#branches.get(key)?.count(rest) ?? 0);
  }

  /** The path says whose the item is: an organisation, then a token of it. */
  add(item: Item, [key, ...rest]: readonly string[]): void {
    if (key === undefined) {
      this.#items.add(item);
      return;
    }
    const branch = this.#branches.get(key) ?? new FairQueue<Item>();
    this.#branches.set(key, branch);
    branch.add(item, rest);
  }

  remove(item: Item, [key, ...rest]: readonly string[]): void {
    if (key === undefined) {
      this.#items.delete(item);
      return;
    }
    const branch = this.#branches.get(key);
    branch?.remove(item, rest);
    if (branch?.isEmpty) this.#branches.delete(key);
  }

  /** Takes out the next item, if any may be taken now. The branch that it comes from goes to the end. */
  take(mayTakeFrom: (key: string) => boolean = () => true): Item | undefined {
    for (const item of this.#items) {
      this.#items.delete(item);
      return item;
    }
    for (const [key, branch] of this.#branches) {
      if (!mayTakeFrom(key)) continue;
      this.#branches.delete(key);
      const item = branch.take();
      if (!branch.isEmpty) this.#branches.set(key, branch);
      return item;
    }
    return undefined;
  }
}
