// A typed array that grows, for columns whose length is not known in advance. It takes less memory than an array of numbers,
// and leaves less garbage.

const INITIAL_LENGTH = 1024;

export class GrowingUint32Array {
  #values = new Uint32Array(INITIAL_LENGTH);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(...values: readonly number[]): void {
    if (this.#length + values.length > this.#values.length) this.#grow();
    for (let index = 0; index < values.length; index++)
      this.#values[this.#length++] = values[index] as number;
  }

  /** The values so far; valid until the next push. */
  get values(): Uint32Array {
    return this.#values.subarray(0, this.#length);
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#values.length);
    larger.set(this.#values);
    this.#values = larger;
  }
}
