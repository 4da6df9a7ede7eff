// A Uint32Array that grows while its final length is not known yet.

export class GrowingUint32Array {
  #items = new Uint32Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Uint32Array(this.#items.length * 2);
      larger.set(this.#items);
      this.#items = larger;
    }
    this.#items[this.#length++] = value;
  }

  toArray(): Uint32Array {
    return this.#items.slice(0, this.#length);
  }
}
