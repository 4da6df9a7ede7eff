// A round-robin queue: organisations take turns, and so do an organisation's tokens. A token's requests stay in order of
// arrival. A busy organisation cannot starve the others.

export class FairQueue<Item> {
  readonly #items = new Set<Item>();
  /** In round-robin order, next branch first. */
  readonly #branches = new Map<string, FairQueue<Item>>();

  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#branches.size === 0;
  }

  /** The path identifies the item's owner: an organisation, then one of its tokens. */
  add(item: Item, [key, ...rest]: readonly string[]): void {
    if (key === undefined) {
      this.#items.add(item);
      return;
    }
    this.#branches.getOrInsertComputed(key, () => new FairQueue()).add(item, rest);
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

  /** Removes and returns the next item, and moves its branch to the end. */
  shift(): Item | undefined {
    for (const item of this.#items) {
      this.#items.delete(item);
      return item;
    }
    for (const [key, branch] of this.#branches) {
      this.#branches.delete(key);
      const item = branch.shift();
      if (!branch.isEmpty) this.#branches.set(key, branch);
      return item;
    }
    return undefined;
  }
}
