import { CountersignError } from "@countersign/core";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import { canonicalCount, canonicalText } from "../receipt/canonical-text.js";
import "../receipt/errors.js";
import type { TimedDraft } from "./draft.js";

/** Bytes kept free for `seq` and the longest signature, so that no signed entry is ever too large. */
export const SIGNATURE_ALLOWANCE = 1_500;

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const literal = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const DIRECTION = literal('{"direction":');
const EMITTED = literal(',"emitted_hash":');
const MODE = literal(',"mode":');
const POLICY = literal(',"policy_hash":');
const RECEIPT = literal(',"receipt":\n{"agent_id":');
const ALLOWED = literal(',"allowed":true,"capability_id":');
const BLOCKED = literal(',"allowed":false,"capability_id":');
const CLASSIFICATION = literal(',"classification":');
const DENIAL = literal(',"denial_reason":');
const EVENT_ID = literal(',"event_id":');
const EVENT_TYPE = literal(',"event_type":');
const CUSTOM = literal('{"custom":');
const ID = literal(',"id":"agui-');
const SESSION = literal(',"session_id":');
const TARGET = literal(',"target":{');
const COMPONENT_ID = literal('"component_id":');
const COMPONENT_TYPE = literal('"component_type":');
const TIMESTAMP = literal(',"timestamp":');
const TRANSPORT = literal(',"transport":');
const RECEIVED = literal(',"received_at":');
const RULE = literal(',"rule":');
const RUN = literal(',"run_id":');
const SEQ = literal(',"seq":\n');
const THREAD = literal(',"thread_id":');

// The members before the event's id, as values: a caller may change and reuse its objects.
type Head = Pick<TimedDraft, "policy_hash" | "direction" | "mode" | "emitted_hash"> &
  Pick<
    TimedDraft["receipt"],
    "agent_id" | "allowed" | "capability_id" | "classification" | "denial_reason"
  >;

function headOf(draft: TimedDraft): Head {
  const { receipt } = draft;
  return {
    policy_hash: draft.policy_hash,
    direction: draft.direction,
    mode: draft.mode,
    emitted_hash: draft.emitted_hash,
    agent_id: receipt.agent_id,
    allowed: receipt.allowed,
    capability_id: receipt.capability_id,
    classification: receipt.classification,
    denial_reason: receipt.denial_reason,
  } as Head;
}

function hasHead(draft: TimedDraft, head: Head): boolean {
  const { receipt } = draft;
  return (
    draft.policy_hash === head.policy_hash &&
    draft.direction === head.direction &&
    draft.mode === head.mode &&
    draft.emitted_hash === head.emitted_hash &&
    receipt.agent_id === head.agent_id &&
    receipt.allowed === head.allowed &&
    receipt.capability_id === head.capability_id &&
    receipt.classification === head.classification &&
    receipt.denial_reason === head.denial_reason
  );
}

/**
 * Writes drafts as the lines a signing thread works on, five for each: entry up to the receipt,
 * receipt up to its signature, receipt after it, entry up to the value of `seq`, entry after it.
 * Canonical JSON escapes every control character, so a line feed can only be our separator; lines 2
 * and 3 joined are the bytes that are signed. Straight into bytes, since ropes of short strings cost
 * more in garbage collection (4 µs an entry, measured) than in writing.
 */
export class DraftLines {
  #bytes: Buffer;
  #end = 0;
  // The last head that was written out, and where it stands.
  #head: Head | undefined;
  #headStart = 0;
  #headEnd = 0;
  #key = "";
  #keyBytes = new Uint8Array(0);

  /** `expected` bytes are made room for; more find room too, at the cost of a copy. */
  constructor(expected: number = 1 << 15) {
    this.#bytes = Buffer.allocUnsafeSlow(expected);
  }

  /** What was written so far; it is the caller's afterwards. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#end);
    this.#bytes = Buffer.allocUnsafeSlow(0);
    this.#end = 0;
    this.#head = undefined;
    return taken;
  }

  /** How much was written so far. */
  get length(): number {
    return this.#end;
  }

  /** Takes back what was written from `length` on. */
  cutTo(length: number): void {
    this.#forgetFrom(length);
  }

  /** Adds a draft, or throws and adds nothing. */
  add(draft: TimedDraft, kernelKey: string): void {
    const start = this.#end;
    try {
      this.#write(draft, kernelKey);
    } catch (error) {
      this.#forgetFrom(start);
      throw error;
    }
    const limit = MAX_ENTRY_BYTES - SIGNATURE_ALLOWANCE;
    const size = this.#end - start;
    if (size > limit) {
      this.#forgetFrom(start);
      throw new CountersignError(
        "ERR_ENTRY_TOO_LARGE",
        "a log entry is larger than a bundle allows",
        {
          limit,
          size,
        },
      );
    }
  }

  // The members before the event's id are mostly those of the draft before: then copied as one piece,
  // 250 bytes at the cost of 30.
  #writeHead(draft: TimedDraft): void {
    if (this.#head !== undefined && hasHead(draft, this.#head)) {
      const length = this.#headEnd - this.#headStart;
      this.#reserve(length);
      this.#bytes.copyWithin(this.#end, this.#headStart, this.#headEnd);
      this.#end += length;
      return;
    }
    const start = this.#end;
    const { receipt } = draft;
    this.#member(DIRECTION, "direction", draft.direction);
    this.#member(EMITTED, "emitted_hash", draft.emitted_hash);
    this.#member(MODE, "mode", draft.mode);
    this.#member(POLICY, "policy_hash", draft.policy_hash);
    this.#member(RECEIPT, "agent_id", receipt.agent_id);
    this.#member(receipt.allowed ? ALLOWED : BLOCKED, "capability_id", receipt.capability_id);
    this.#member(CLASSIFICATION, "classification", receipt.classification);
    this.#member(DENIAL, "denial_reason", receipt.denial_reason);
    this.#head = headOf(draft);
    this.#headStart = start;
    this.#headEnd = this.#end;
  }

  // One key for the whole log: its member and the next one's name are copied as one piece.
  #writeKey(kernelKey: string): void {
    if (kernelKey !== this.#key) {
      const text = canonicalText("kernel_key", kernelKey);
      this.#keyBytes = new Uint8Array(Buffer.from(`,"kernel_key":${text},"payload_hash":`));
      this.#key = kernelKey;
    }
    this.#reserve(this.#keyBytes.length);
    this.#bytes.set(this.#keyBytes, this.#end);
    this.#end += this.#keyBytes.length;
  }

  #write(draft: TimedDraft, kernelKey: string): void {
    const { receipt } = draft;
    this.#writeHead(draft);
    this.#member(EVENT_ID, "event_id", receipt.event_id);
    if (typeof receipt.event_type === "string") {
      this.#member(EVENT_TYPE, "event_type", receipt.event_type);
    } else {
      this.#literal(EVENT_TYPE);
      this.#member(CUSTOM, "event_type", receipt.event_type.custom);
      this.#byte(0x7d);
    }
    this.#literal(ID);
    this.#text("id", receipt.event_id, false);
    this.#writeKey(kernelKey);
    this.#text("payload_hash", receipt.payload_hash, true);
    this.#member(SESSION, "session_id", receipt.session_id);
    this.#byte(LINE_FEED);
    if (receipt.target !== undefined) {
      this.#literal(TARGET);
      this.#member(COMPONENT_ID, "target", receipt.target.component_id);
      if (receipt.target.component_id !== undefined) this.#byte(0x2c);
      this.#member(COMPONENT_TYPE, "target", receipt.target.component_type);
      this.#byte(0x7d);
    }
    this.#literal(TIMESTAMP);
    this.#plain(canonicalCount("timestamp", receipt.timestamp));
    this.#member(TRANSPORT, "transport", receipt.transport);
    this.#byte(0x7d);
    this.#byte(LINE_FEED);
    this.#literal(RECEIVED);
    this.#plain(canonicalCount("received_at", draft.received_at));
    this.#member(RULE, "rule", draft.rule);
    this.#member(RUN, "run_id", draft.run_id);
    this.#literal(SEQ);
    this.#member(THREAD, "thread_id", draft.thread_id);
    this.#byte(0x7d);
    this.#byte(LINE_FEED);
  }

  #forgetFrom(start: number): void {
    this.#end = start;
    // What follows will be written over it.
    if (this.#headEnd > start) this.#head = undefined;
  }

  #reserve(length: number): void {
    if (this.#end + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max((this.#end + length) * 2, 1 << 15));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#end] = value;
    this.#end += 1;
  }

  #literal(literal: Uint8Array): void {
    this.#reserve(literal.length);
    const bytes = this.#bytes;
    let at = this.#end;
    // Byte by byte: at these lengths the call of `set` costs more than the copy.
    for (let index = 0; index < literal.length; index += 1) bytes[at++] = literal[index] as number;
    this.#end = at;
  }

  #plain(text: string): void {
    this.#reserve(text.length);
    this.#end += this.#bytes.write(text, this.#end, "latin1");
  }

  #member(name: Uint8Array, member: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#literal(name);
    this.#text(member, value, true);
  }

  // `opening` false: the opening quote is written already, with something before the value.
  #text(member: string, value: string, opening: boolean): void {
    this.#reserve(value.length + 2);
    const bytes = this.#bytes;
    let at = this.#end;
    if (opening) bytes[at++] = QUOTE;
    for (let index = 0; index < value.length; index += 1) {
      const unit = value.charCodeAt(index);
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) {
        this.#escaped(member, value, opening);
        return;
      }
      bytes[at++] = unit;
    }
    bytes[at++] = QUOTE;
    this.#end = at;
  }

  #escaped(member: string, value: string, opening: boolean): void {
    const text = canonicalText(member, value);
    const written = opening ? text : text.slice(1);
    this.#reserve(written.length * 3);
    this.#end += this.#bytes.write(written, this.#end);
  }
}
