/** Bytes that wait for the rest of their line; grows by doubling, so dripped bytes cost linear time. */
export class TailBuffer {
  #bytes = new Uint8Array(0);
  /** The number of bytes held. */
  length = 0;

  /** Keeps a copy of the bytes: the caller's buffer may be reused after `push` returns. */
  append(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2, 64));
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.length);
    this.length = needed;
  }

  /** The bytes held and then these, as one view that is valid until the next `append`. */
  take(more: Uint8Array): Uint8Array {
    this.append(more);
    const taken = this.#bytes.subarray(0, this.length);
    this.length = 0;
    // One long line must not pin its memory for the life of a connection.
    if (this.#bytes.length > 65_536) this.#bytes = new Uint8Array(0);
    return taken;
  }

  /** Lets go of everything. */
  clear(): void {
    this.#bytes = new Uint8Array(0);
    this.length = 0;
  }
}
