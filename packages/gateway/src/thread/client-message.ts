import { createHash } from "node:crypto";
import type { JsonObject } from "@countersign/core";
import type { Message, ToolCall } from "@countersign/wire";
import { digestOf, EMPTY_DIGEST, readingsOf } from "./digest.js";
import type { Readings } from "./digest.js";
import { fieldsOf, isJoinable, recordOf, repeatableOf } from "./message-record.js";
import type { CallRecord, MessageRecord } from "./message-record.js";

/** Prefixes kept of a text that was cut off: a client is rarely further behind. */
const MAX_PREFIXES = 4096;

/** Text that grows by deltas, and is hashed only on demand. */
export class ClientText {
  readonly #pieces: string[] = [];
  /** The moment of each piece; `undefined` for text from before the run. */
  readonly #moments: (number | undefined)[] = [];
  #whole: { readonly digest: string; readonly size: number } | undefined;

  constructor(text = "") {
    if (text === "") return;
    this.#pieces.push(text);
    this.#moments.push(undefined);
  }

  append(piece: string, moment: number): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#moments.push(moment);
    this.#whole = undefined;
  }

  /** The moment of the last change. */
  changed(since: number): number {
    return this.#moments.at(-1) ?? since;
  }

  /** The digest of the whole text, and its size in UTF-8 bytes. */
  whole(): { readonly digest: string; readonly size: number } {
    if (this.#whole === undefined) {
      const text = this.#pieces.join("");
      this.#whole = { digest: digestOf(text), size: Buffer.byteLength(text) };
    }
    return this.#whole;
  }

  /** Digests of the text as a call's arguments: two spellings of one value have one digest. */
  readings(): Readings {
    return readingsOf(this.#pieces.join(""));
  }

  /**
   * Digests of the prefixes after each piece from the moment `oldest` on; the first is the prefix at `since`, the last
   * the whole text.
   */
  prefixes(since: number, oldest: number): Prefixes {
    const hash = createHash("sha256");
    const isEmptyFirst = this.#pieces.length === 0 || this.#moments[0] !== undefined;
    const digests = isEmptyFirst ? [EMPTY_DIGEST] : [];
    const at = isEmptyFirst ? [since] : [];
    const sizes = isEmptyFirst ? [0] : [];
    let size = 0;
    const recent = this.#moments.findIndex((moment) => (moment ?? since) >= oldest);
    const whole = this.#pieces.length - 1;
    const skipped = Math.max(whole + 1 - MAX_PREFIXES, recent === -1 ? whole : recent);
    for (const [index, piece] of this.#pieces.entries()) {
      hash.update(piece);
      size += Buffer.byteLength(piece);
      if (index > 0 && index < skipped) continue;
      digests.push(index < skipped ? "" : hash.copy().digest("hex"));
      at.push(this.#moments[index] ?? since);
      sizes.push(size);
    }
    return { digests, at, sizes };
  }
}

/** The digests of a growing text in order, and the moment of each. */
type Prefixes = { digests: string[]; at: number[]; sizes?: number[] };

type Annotated = { metadata?: JsonObject | undefined };

/** A tool call as a client holds it. */
export class ClientCall {
  readonly id: string;
  name: string;
  readonly arguments: ClientText;
  readonly fields: Record<string, unknown> = {};
  /** See {@link repeatableOf}. */
  #repeatable: Record<string, string> | undefined;
  /** The moment it opened, if that was after its message. */
  readonly #since: number | undefined;
  /** The ledger's record, when the request did not repeat its arguments. */
  readonly #base: CallRecord | undefined;
  /** The last record, until the next change: a message with many calls is recorded with each of them. */
  #last: CallRecord | undefined;
  isOpen = false;

  constructor(id: string, name: string, text = "", since?: number, base?: CallRecord) {
    this.id = id;
    this.name = name;
    this.#since = since;
    this.#base = base;
    this.arguments = new ClientText(text);
  }

  static of(call: ToolCall): ClientCall {
    const held = new ClientCall(call.id, call.function.name, call.function.arguments);
    Object.assign(held.fields, call);
    return held;
  }

  static recorded(base: CallRecord): ClientCall {
    return new ClientCall(base.id, base.name, "", undefined, base);
  }

  /** Digests of the parsed arguments; `undefined` when the gateway does not have the text. */
  readings(): Readings | undefined {
    return this.#base === undefined ? this.arguments.readings() : undefined;
  }

  annotate({ metadata }: Annotated): void {
    mergeMetadata(this.fields, metadata);
    this.#repeatable = repeatableOf(metadata) ?? this.#repeatable;
  }

  /** Called before each change. */
  changes(): void {
    this.#last = undefined;
  }

  /** See {@link ClientMessage.record}. The same object until the next change. */
  record(messageSince: number, oldest: number | undefined): CallRecord {
    const from = this.#since ?? messageSince;
    if (oldest !== undefined) return this.#record(from, oldest);
    if (this.#last?.from !== from) this.#last = this.#record(from, undefined);
    return this.#last;
  }

  #record(from: number, oldest: number | undefined): CallRecord {
    const base = this.#base;
    if (base !== undefined) return withFields({ ...untimed(base), from }, this.fields);
    const fields = joined(fieldsOf(this.fields), this.#repeatable);
    const isCut = oldest !== undefined;
    const { digests, at } = isCut
      ? this.arguments.prefixes(from, oldest)
      : now(this.arguments, from);
    const record: CallRecord = { id: this.id, name: this.name, arguments: digests, from, at };
    if (fields !== undefined) record.fields = fields;
    if (this.isOpen && !isCut) record.open = true;
    return record;
  }
}

/** A message as a client holds it while a run writes into it. */
export class ClientMessage {
  readonly id: string;
  readonly role: Message["role"];
  readonly text: ClientText;
  readonly fields: Record<string, unknown> = {};
  /** See {@link repeatableOf}. */
  #repeatable: Record<string, string> | undefined;
  readonly calls: ClientCall[];
  isOpen = false;
  /** The moment in this run when the client got it; 0 for a message from before. */
  since = 0;
  /** Content that is not text. */
  readonly #content: Message["content"];
  /** The ledger's record, when the request did not repeat the text. The run does not change its content. */
  readonly #base: MessageRecord | undefined;

  constructor(message: Message, base?: MessageRecord) {
    this.id = message.id;
    this.role = message.role;
    this.#base = base;
    this.#content = typeof message.content === "string" ? undefined : message.content;
    this.text = new ClientText(typeof message.content === "string" ? message.content : "");
    if (base !== undefined) {
      this.calls = (base.calls ?? []).map((call) => ClientCall.recorded(call));
      return;
    }
    Object.assign(this.fields, message);
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    this.calls = calls.map((call) => ClientCall.of(call));
  }

  annotate({ metadata }: Annotated): void {
    mergeMetadata(this.fields, metadata);
    this.#repeatable = repeatableOf(metadata) ?? this.#repeatable;
  }

  /**
   * The record for the ledger; of a cut run with every prefix at which the client may have stopped, from `oldest` on.
   */
  record(oldest?: number): MessageRecord {
    if (this.#base !== undefined) return this.#recordOn(this.#base, oldest);
    const isCut = oldest !== undefined;
    const own = recordOf({ ...this.fields, content: "", toolCalls: [] } as unknown as Message);
    const fields = joined(own.fields, this.#repeatable);
    const { since, calls } = this;
    const { digests, at, sizes }: Prefixes =
      this.#content !== undefined
        ? { digests: [digestOf(this.#content)], at: [since] }
        : isCut
          ? this.text.prefixes(since, oldest)
          : now(this.text, since);
    // Assigned field by field: an object made by spreading gets its own hidden class, larger than the object.
    const record: MessageRecord = { role: this.role, content: digests, from: since, at };
    if (sizes !== undefined && isJoinable(this.role)) record.sizes = sizes;
    if (fields !== undefined) record.fields = fields;
    if (calls.length > 0) record.calls = calls.map((call) => call.record(since, oldest));
    if (this.isOpen && !isCut) record.open = true;
    if (isCut) record.cut = true;
    return record;
  }

  /** Adds new calls and the encrypted value to the record of a message whose text the gateway does not have. */
  #recordOn(base: MessageRecord, oldest: number | undefined): MessageRecord {
    const { since, calls } = this;
    const record: MessageRecord = { ...untimed(base), from: since };
    if (calls.length > 0) record.calls = calls.map((call) => call.record(since, oldest));
    if (oldest !== undefined) record.cut = true;
    return withFields(record, this.fields);
  }
}

/** Removes the moments from a record: they mean nothing in another run. */
function untimed<Kind extends MessageRecord | CallRecord>(record: Kind): Kind {
  const { at: _, ...rest } = record;
  return rest as Kind;
}

/** Adds the digests of new fields to a record. */
function withFields<Kind extends MessageRecord | CallRecord>(
  record: Kind,
  fields: Readonly<Record<string, unknown>>,
): Kind {
  const fresh = fieldsOf(fields);
  return fresh === undefined ? record : { ...record, fields: { ...record.fields, ...fresh } };
}

function joined(
  fields: Record<string, string> | undefined,
  more: Record<string, string> | undefined,
): Record<string, string> | undefined {
  return more === undefined ? fields : { ...fields, ...more };
}

function now(text: ClientText, since: number): Prefixes {
  const { digest, size } = text.whole();
  return { digests: [digest], at: [text.changed(since)], sizes: [size] };
}

/** Merges metadata by top-level key; the later value wins. */
function mergeMetadata(fields: Record<string, unknown>, metadata: JsonObject | undefined): void {
  if (metadata === undefined) return;
  fields["metadata"] = { ...(fields["metadata"] as JsonObject | undefined), ...metadata };
}
