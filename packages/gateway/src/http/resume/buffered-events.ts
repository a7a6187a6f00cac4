/**
 * How far the buffer may exceed its limits before the oldest events are dropped, so that they are dropped in batches.
 */
const SLACK = 1.25;
/** Events that one stream may buffer: a small event costs more than its bytes. */
const MAX_EVENTS = 16_384;

/** The last events of a stream as JSON texts, numbered from 1. */
export class BufferedEvents {
  #texts: string[] = [];
  #first = 1;
  #size = 0;

  /** Bytes in the buffer. */
  get size(): number {
    return this.#size;
  }

  /** The number of the oldest event in the buffer. */
  get first(): number {
    return this.#first;
  }

  /** The number of the next event. */
  get next(): number {
    return this.#first + this.#texts.length;
  }

  /** Whether the buffer has as many events as it may have. */
  get isFull(): boolean {
    return this.#texts.length >= MAX_EVENTS;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#size += Buffer.byteLength(text);
  }

  /** Drops the oldest events up to `last` once the buffer exceeds a limit. */
  trim(limit: number, last: number): void {
    if (this.#size <= limit * SLACK && this.#texts.length <= MAX_EVENTS / 2) return;
    const most = Math.min(last + 1 - this.#first, this.#texts.length);
    let count = 0;
    while (
      count < most &&
      (this.#size > limit || this.#texts.length - count > (MAX_EVENTS / 2) * (1 / SLACK))
    ) {
      this.#size -= Buffer.byteLength(this.#texts[count++] as string);
    }
    this.#texts.splice(0, count);
    this.#first += count;
  }

  /** All events after this one; `undefined` if the event never existed or a later one was dropped. */
  after(number: number): readonly string[] | undefined {
    const from = number + 1 - this.#first;
    return from < 0 || number >= this.next ? undefined : this.#texts.slice(from);
  }
}
