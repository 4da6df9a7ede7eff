// A typed array that grows, for columns whose length is not known in advance. It takes less memory than an array of numbers,
// and leaves less garbage.

const INITIAL_LENGTH = 1024;

export class GrowingUint32Array {
  #values = new Uint32Array(INITIAL_LENGTH);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    this.#reserve(1);
    this.#values[this.#length++] = value;
  }

  pushAll(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    // A loop, because set() is slow for a few values.
    for (let index = 0; index < values.length; index++)
      this.#values[this.#length++] = values[index] as number;
  }

  /** The values so far; valid until the next push. */
  get values(): Uint32Array {
    return this.#values.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const length = this.#length + more;
    if (length <= this.#values.length) return;
    const larger = new Uint32Array(2 * length);
    larger.set(this.#values);
    this.#values = larger;
  }
}
