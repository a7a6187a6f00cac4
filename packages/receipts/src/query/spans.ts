import { corrupt } from "../store/failure.js";

/**
 * Entries of one transaction with the same column values: the deltas of a message are one row of
 * the index. Each entry is in exactly one span. Spans of different transactions do not overlap.
 */
export type Span = {
  /** The column values of all entries. */
  readonly kind: number;
  readonly first: number;
  readonly last: number;
  readonly entries: number;
  readonly earliest: number;
  readonly latest: number;
  readonly idPrefix: string;
  /** The members that differ from entry to entry; see {@link expandSpan}. */
  readonly detail: string;
};

/** One entry of a span. The position of its bytes is known to an embedded store only. */
export type SpanEntry = {
  readonly seq: number;
  readonly at: number;
  readonly id: string;
  readonly position: number;
  readonly length: number;
};

/** `last - first` of a span is below this: a query knows how far a span can reach. */
export const SPAN_WIDTH = 16_384;
/** Entries of one span: a page reads whole spans. */
const SPAN_ENTRIES = 1_024;

// The last 18 of the 26 characters of a ULID: ids of about one second have the same prefix.
const OWN_CHARACTERS = 18;
const PLAIN_PREFIX = /^[\x21-\x7e]{0,100}$/;

/** The part of a receipt id that an index finds it by. */
export function idPrefix(id: string): string {
  const prefix = id.slice(0, Math.max(0, id.length - OWN_CHARACTERS));
  return PLAIN_PREFIX.test(prefix) ? prefix : "";
}

/** The differences from one entry to the next: small numbers. */
class OpenSpan {
  readonly #kind: number;
  readonly #first: number;
  readonly #prefix: string;
  readonly #seqs: number[] = [];
  readonly #times: number[] = [];
  readonly #ids: string[] = [];
  readonly #positions: number[] = [];
  readonly #lengths: number[] = [];
  #last: number;
  #at = 0;
  #earliest = Number.POSITIVE_INFINITY;
  #latest = 0;
  #position = 0;
  #isSparse = false;

  constructor(kind: number, first: number, prefix: string) {
    this.#kind = kind;
    this.#first = first;
    this.#prefix = prefix;
    this.#last = first;
  }

  takes(seq: number, id: string): boolean {
    if (seq - this.#first >= SPAN_WIDTH || this.#ids.length >= SPAN_ENTRIES) return false;
    const prefix = this.#prefix;
    return prefix === ""
      ? idPrefix(id) === ""
      : id.length === prefix.length + OWN_CHARACTERS && id.startsWith(prefix);
  }

  add(seq: number, at: number, id: string, position: number, length: number): void {
    const step = seq - this.#last;
    this.#seqs.push(step);
    if (step > 1) this.#isSparse = true;
    this.#times.push(at - this.#at);
    if (at < this.#earliest) this.#earliest = at;
    if (at > this.#latest) this.#latest = at;
    this.#ids.push(id);
    this.#positions.push(position - this.#position);
    this.#lengths.push(length);
    this.#last = seq;
    this.#at = at;
    this.#position = position;
  }

  close(): Span {
    const isPlaced = (this.#lengths[0] ?? 0) > 0;
    const detail = [
      this.#isSparse ? this.#seqs : 0,
      this.#earliest === this.#latest ? 0 : this.#times,
      this.#ids,
      ...(isPlaced ? [this.#positions, this.#lengths] : []),
    ];
    return {
      kind: this.#kind,
      first: this.#first,
      last: this.#last,
      entries: this.#ids.length,
      earliest: this.#earliest,
      latest: this.#latest,
      idPrefix: this.#prefix,
      detail: JSON.stringify(detail),
    };
  }
}

/** Collects the entries of one transaction into spans. */
export class SpanBuilder {
  readonly #open = new Map<number, OpenSpan>();
  #closed: Span[] = [];

  /** Adds an entry; numbers increase. */
  add(kind: number, seq: number, at: number, id: string, position = 0, length = 0): void {
    let span = this.#open.get(kind);
    if (span === undefined || !span.takes(seq, id)) {
      if (span !== undefined) this.#closed.push(span.close());
      span = new OpenSpan(kind, seq, idPrefix(id));
      this.#open.set(kind, span);
    }
    span.add(seq, at, id, position, length);
  }

  /** All spans, in the order of the log. */
  take(): Span[] {
    const spans = [...this.#closed, ...Array.from(this.#open.values(), (span) => span.close())];
    this.forget();
    return spans.sort((left, right) => left.last - right.last);
  }

  forget(): void {
    this.#open.clear();
    this.#closed = [];
  }
}

/** The columns of a span that {@link expandSpan} reads, as a database returns them. */
export type SpanRow = Readonly<Record<string, unknown>>;

function isList(value: unknown, count: number): value is number[] {
  return (
    Array.isArray(value) && value.length === count && value.every((one) => Number.isSafeInteger(one))
  );
}

/**
 * The entries of a stored span. A database may have been written by others.
 * @throws CountersignError `ERR_STORE_CORRUPT`
 */
export function expandSpan(row: SpanRow): SpanEntry[] {
  const first = Number(row["first_seq"]);
  const count = Number(row["entries"]);
  let parts: unknown;
  try {
    parts = JSON.parse(String(row["detail"]));
  } catch {
    parts = undefined;
  }
  const [seqs, times, ids, positions, lengths] = Array.isArray(parts) ? (parts as unknown[]) : [];
  const isSound =
    (seqs === 0 || isList(seqs, count)) &&
    (times === 0 || isList(times, count)) &&
    Array.isArray(ids) &&
    ids.length === count &&
    ids.every((id) => typeof id === "string") &&
    (positions === undefined || (isList(positions, count) && isList(lengths, count)));
  if (!isSound) throw corrupt(first, "the index is damaged");
  const entries: SpanEntry[] = [];
  let seq = first;
  let at = times === 0 ? Number(row["earliest"]) : 0;
  let position = 0;
  for (let index = 0; index < count; index += 1) {
    seq += seqs === 0 ? Math.sign(index) : ((seqs as number[])[index] ?? 0);
    at += times === 0 ? 0 : ((times as number[])[index] ?? 0);
    position += (positions as number[] | undefined)?.[index] ?? 0;
    const length = (lengths as number[] | undefined)?.[index] ?? 0;
    entries.push({ seq, at, id: (ids as string[])[index] ?? "", position, length });
  }
  return entries;
}

/** A span without its entries before `first`, which were removed from the log. */
export function trimSpan(row: SpanRow, first: number): Span {
  const builder = new SpanBuilder();
  for (const { seq, at, id, position, length } of expandSpan(row)) {
    if (seq >= first) builder.add(Number(row["kind"]), seq, at, id, position, length);
  }
  const [span] = builder.take();
  if (span === undefined) throw corrupt(first, "the index is damaged");
  return span;
}
