import { isCountersignError, parseJson } from "@countersign/core";
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
/** Numbers of one block. */
export const BLOCK_WIDTH = 4_096;

/** The block of the last entry of a span. */
export function blockOf({ last }: Pick<Span, "last">): number {
  return Math.floor(last / BLOCK_WIDTH);
}

// The last 18 of the 26 characters of a ULID: ids of about one second have the same prefix.
const OWN_CHARACTERS = 18;
const PLAIN_PREFIX = /^[\x21-\x7e]{0,100}$/;

/** The part of a receipt id that an index finds blocks by. */
export function idPrefix(id: string): string {
  const prefix = id.slice(0, Math.max(0, id.length - OWN_CHARACTERS));
  return PLAIN_PREFIX.test(prefix) ? prefix : "";
}

/** A prefix of the ids of a block. */
export type PrefixRow = { readonly prefix: string; readonly block: number };

class OpenSpan {
  readonly #kind: number;
  readonly #first: number;
  /** Small numbers: the differences from one entry to the next. */
  readonly #detail: (number | string)[] = [];
  readonly prefixes: string[] = [];
  #last: number;
  #entries = 0;
  #at = 0;
  #earliest = Number.POSITIVE_INFINITY;
  #latest = 0;
  #position = 0;

  constructor(kind: number, first: number) {
    this.#kind = kind;
    this.#first = first;
    this.#last = first;
  }

  takes(seq: number): boolean {
    return seq - this.#first < SPAN_WIDTH && this.#entries < SPAN_ENTRIES;
  }

  add(seq: number, at: number, id: string, position: number, length: number): void {
    this.#detail.push(seq - this.#last, at - this.#at, id);
    if (length > 0) this.#detail.push(position - this.#position, length);
    if (at < this.#earliest) this.#earliest = at;
    if (at > this.#latest) this.#latest = at;
    this.#entries += 1;
    this.#last = seq;
    this.#at = at;
    this.#position = position;
    const prefix = this.prefixes.at(-1);
    if (prefix !== undefined && prefix !== "" && id.length === prefix.length + OWN_CHARACTERS) {
      if (id.startsWith(prefix)) return;
    }
    const own = idPrefix(id);
    if (own !== prefix) this.prefixes.push(own);
  }

  close(): Span {
    return {
      kind: this.#kind,
      first: this.#first,
      last: this.#last,
      entries: this.#entries,
      earliest: this.#earliest,
      latest: this.#latest,
      detail: JSON.stringify(this.#detail),
    };
  }
}

/** The rows of one transaction. */
export type SpanBatch = {
  readonly spans: readonly Span[];
  readonly prefixes: readonly PrefixRow[];
};

/** Collects the entries of one transaction into spans. */
export class SpanBuilder {
  readonly #open = new Map<number, OpenSpan>();
  #spans: Span[] = [];
  readonly #prefixes = new Map<string, PrefixRow>();

  /** Adds an entry; numbers increase. An embedded store also gives the place of its bytes. */
  add(kind: number, seq: number, at: number, id: string, position = 0, length = 0): void {
    let span = this.#open.get(kind);
    if (span === undefined || !span.takes(seq)) {
      if (span !== undefined) this.#close(span);
      span = new OpenSpan(kind, seq);
      this.#open.set(kind, span);
    }
    span.add(seq, at, id, position, length);
  }

  #close(open: OpenSpan): void {
    const span = open.close();
    const block = blockOf(span);
    for (const prefix of open.prefixes) this.#prefixes.set(`${block} ${prefix}`, { prefix, block });
    this.#spans.push(span);
  }

  /** All spans, in the order of the log. */
  take(): SpanBatch {
    for (const span of this.#open.values()) this.#close(span);
    const spans = this.#spans.sort((left, right) => left.last - right.last);
    const prefixes = [...this.#prefixes.values()];
    this.forget();
    return { spans, prefixes };
  }

  forget(): void {
    this.#open.clear();
    this.#prefixes.clear();
    this.#spans = [];
  }
}

/** The columns of a span that {@link expandSpan} reads, as a database returns them. */
export type SpanRow = Readonly<Record<string, unknown>>;

/** Values of one entry in `detail`, without and with its place. */
const WIDTHS: ReadonlySet<number> = new Set([3, 5]);

/**
 * The entries of a stored span. A database may have been written by others.
 * @throws CountersignError `ERR_STORE_CORRUPT`
 */
export function expandSpan(row: SpanRow): SpanEntry[] {
  let seq = Number(row["first_seq"]);
  const damaged = (): Error => corrupt(seq, "the index is damaged");
  const count = Number(row["entries"]);
  let detail: unknown;
  try {
    detail = parseJson(String(row["detail"]));
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    throw damaged();
  }
  if (!Array.isArray(detail) || !(count > 0)) throw damaged();
  const width = detail.length / count;
  if (!WIDTHS.has(width)) throw damaged();
  const entries: SpanEntry[] = [];
  let at = 0;
  let position = 0;
  for (let index = 0; index < detail.length; index += width) {
    const [step, later, id, further = 0, length = 0] = detail.slice(
      index,
      index + width,
    ) as unknown[];
    if (typeof id !== "string") throw damaged();
    seq += Number(step);
    at += Number(later);
    position += Number(further);
    if (!Number.isSafeInteger(seq + at + position)) throw damaged();
    entries.push({ seq, at, id, position, length: Number(length) });
  }
  return entries;
}

/** A span without its entries before `first`, which were removed from the log. */
export function trimSpan(row: SpanRow, first: number): Span {
  const builder = new SpanBuilder();
  for (const { seq, at, id, position, length } of expandSpan(row)) {
    if (seq >= first) builder.add(Number(row["kind"]), seq, at, id, position, length);
  }
  const [span] = builder.take().spans;
  if (span === undefined) throw corrupt(first, "the index is damaged");
  return span;
}
