import { CountersignError, isWellFormed } from "@countersign/core";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import { formatError } from "../receipt/errors.js";
import type { ReceiptTarget } from "../receipt/receipt.js";
import type { DraftText, Part } from "../sign/group.js";
import { HASH_DIGITS, PART, partMark, PARTS } from "../sign/group.js";
import type { EntryDraft } from "../entry/draft.js";
import {
  entryEnd,
  entryHead,
  entryTail,
  eventType,
  hashText,
  innerText,
  receiptHead,
  receiptTail,
  sessionPart,
} from "./entry-parts.js";

/** Bytes reserved for `seq` and the longest signature, so that no signed entry is too large. */
export const SIGNATURE_ALLOWANCE = 1_500;

const LIMIT = MAX_ENTRY_BYTES - SIGNATURE_ALLOWANCE;
// Upper bound of the member names, key and hash around the parts.
const FIXED_BYTES = 300;
const HEX = /^[0-9a-f]*$/;
const UNESCAPED = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const MARKS = Array.from({ length: 2 ** PARTS }, (_, set) => partMark(set));

/** All members of the parts; one object shape from the start keeps comparisons cheap. */
function emptyMembers(): Record<Member, unknown> {
  return {
    direction: undefined,
    mode: undefined,
    policy_hash: undefined,
    emitted_hash: undefined,
    further_rules: undefined,
    agent_id: undefined,
    allowed: undefined,
    capability_id: undefined,
    classification: undefined,
    denial_reason: undefined,
    event_type: undefined,
    session_id: undefined,
    timestamp: undefined,
    transport: undefined,
    component_type: undefined,
    component_id: undefined,
    received_at: undefined,
    rule: undefined,
    run_id: undefined,
    thread_id: undefined,
    principal: undefined,
    client_address: undefined,
    tool: undefined,
    path: undefined,
  };
}

type Member =
  | Exclude<keyof EntryDraft, "receipt" | "payload_text">
  | Exclude<keyof EntryDraft["receipt"], "event_id" | "payload_hash" | "target">
  | keyof ReceiptTarget;

function refusePayload(): Error {
  const facts = { member: "payload_text", reason: "not canonical JSON" };
  return formatError("ERR_RECEIPT_MALFORMED", "payload_text is not canonical JSON", facts);
}

/**
 * Writes drafts as the text that a signing thread reads. Each draft contributes only the parts that
 * differ from the draft before, so the event loop pays for the new values of an event and not for
 * the whole entry. Pieces are collected and joined once: writing bytes, or appending to a string
 * piece by piece, costs two to four times as much.
 */
export class DraftRows {
  #pieces: string[] = [];
  #payloads: string[] = [];
  // Checked together after all drafts are added: a check each costs three times as much.
  #eventIds: string[] = [];
  #hashes: string[] = [];
  // Members of the previous draft, as values: a caller may change and reuse its objects.
  readonly #previous = emptyMembers();
  #isFirst = true;
  readonly #parts: string[] = Array.from({ length: PARTS }, () => "");
  #length = 0;

  /** Adds drafts; `now` is the time of those without one. Throws without adding any of them. */
  addAll(drafts: readonly EntryDraft[], now: number): void {
    const pieces = this.#pieces.length;
    const payloads = this.#payloads.length;
    const rollBack = (): void => {
      this.#pieces.length = pieces;
      this.#payloads.length = payloads;
      // The reader never received the parts of the removed drafts.
      this.#isFirst = true;
    };
    this.#eventIds = [];
    this.#hashes = [];
    try {
      for (const draft of drafts) this.#add(draft, now, false);
      if (UNESCAPED.test(this.#eventIds.join("")) && HEX.test(this.#hashes.join(""))) return;
      // One of them needs escapes, or is invalid.
      rollBack();
      for (const draft of drafts) this.#add(draft, now, true);
    } catch (error) {
      rollBack();
      throw error;
    }
  }

  /** Returns the added drafts and resets. */
  take(): DraftText {
    const rows = this.#pieces.join("\n");
    const payloads = this.#payloads.join("\n");
    this.#pieces = [];
    this.#payloads = [];
    this.#isFirst = true;
    return { rows, payloads };
  }

  #add(draft: EntryDraft, now: number, isUnusual: boolean): void {
    const { receipt } = draft;
    const receivedAt = draft.received_at ?? now;
    const pieces = this.#pieces;
    const markAt = pieces.length;
    pieces.push("");
    let set = 0;
    const previous = this.#previous;
    const isFirst = this.#isFirst;
    if (
      isFirst ||
      draft.direction !== previous.direction ||
      draft.mode !== previous.mode ||
      draft.policy_hash !== previous.policy_hash ||
      draft.principal !== previous.principal ||
      draft.client_address !== previous.client_address ||
      draft.path !== previous.path ||
      draft.emitted_hash !== previous.emitted_hash ||
      draft.further_rules !== undefined ||
      previous.further_rules !== undefined
    ) {
      previous.direction = draft.direction;
      previous.mode = draft.mode;
      previous.policy_hash = draft.policy_hash;
      previous.principal = draft.principal;
      previous.client_address = draft.client_address;
      previous.path = draft.path;
      previous.emitted_hash = draft.emitted_hash;
      previous.further_rules = draft.further_rules;
      set |= this.#part(PART.entryHead, entryHead(draft));
    }
    if (
      isFirst ||
      receipt.agent_id !== previous.agent_id ||
      receipt.allowed !== previous.allowed ||
      receipt.capability_id !== previous.capability_id ||
      receipt.classification !== previous.classification ||
      receipt.denial_reason !== previous.denial_reason
    ) {
      previous.agent_id = receipt.agent_id;
      previous.allowed = receipt.allowed;
      previous.capability_id = receipt.capability_id;
      previous.classification = receipt.classification;
      previous.denial_reason = receipt.denial_reason;
      set |= this.#part(PART.receiptHead, receiptHead(receipt));
    }
    const type = receipt.event_type;
    if (isFirst || type !== previous.event_type || typeof type !== "string") {
      previous.event_type = type;
      set |= this.#part(PART.eventType, eventType(type));
    }
    if (isFirst || receipt.session_id !== previous.session_id) {
      previous.session_id = receipt.session_id;
      set |= this.#part(PART.session, sessionPart(receipt.session_id));
    }
    if (
      isFirst ||
      receipt.timestamp !== previous.timestamp ||
      receipt.transport !== previous.transport ||
      receipt.target?.component_type !== previous.component_type ||
      receipt.target?.component_id !== previous.component_id
    ) {
      previous.timestamp = receipt.timestamp;
      previous.transport = receipt.transport;
      previous.component_type = receipt.target?.component_type;
      previous.component_id = receipt.target?.component_id;
      set |= this.#part(PART.receiptTail, receiptTail(receipt));
    }
    if (
      isFirst ||
      receivedAt !== previous.received_at ||
      draft.rule !== previous.rule ||
      draft.run_id !== previous.run_id
    ) {
      previous.received_at = receivedAt;
      previous.rule = draft.rule;
      previous.run_id = draft.run_id;
      set |= this.#part(PART.entryTail, entryTail(draft, receivedAt));
    }
    if (isFirst || draft.thread_id !== previous.thread_id || draft.tool !== previous.tool) {
      previous.thread_id = draft.thread_id;
      previous.tool = draft.tool;
      set |= this.#part(PART.entryEnd, entryEnd(draft));
    }
    pieces[markAt] = MARKS[set] as string;
    let eventId = receipt.event_id;
    if (isUnusual || typeof eventId !== "string") eventId = innerText("event_id", eventId);
    pieces.push(eventId);
    this.#eventIds.push(eventId);
    this.#addPayload(draft, isUnusual);
    const length = this.#length + 2 * eventId.length + FIXED_BYTES;
    // A UTF-16 code unit takes at most three bytes.
    if (length * 3 > LIMIT) this.#checkSize(eventId);
    this.#isFirst = false;
  }

  #addPayload(draft: EntryDraft, isUnusual: boolean): void {
    const { payload_text } = draft;
    if (payload_text === undefined) {
      let hash = draft.receipt.payload_hash;
      if (isUnusual || typeof hash !== "string" || hash.length !== HASH_DIGITS) {
        hash = hashText("payload_hash", hash);
      }
      this.#pieces.push(hash);
      this.#hashes.push(hash);
      return;
    }
    if (typeof payload_text !== "string") throw refusePayload();
    // The thread separates payloads by line feeds, which canonical JSON escapes.
    if (payload_text.includes("\n") || !isWellFormed(payload_text)) throw refusePayload();
    this.#pieces.push("");
    this.#payloads.push(payload_text);
  }

  #part(part: Part, text: string): number {
    this.#length += text.length - (this.#parts[part] as string).length;
    this.#parts[part] = text;
    this.#pieces.push(text);
    return 1 << part;
  }

  #checkSize(eventId: string): void {
    let size = FIXED_BYTES + 2 * Buffer.byteLength(eventId);
    for (const part of this.#parts) size += Buffer.byteLength(part);
    if (size <= LIMIT) return;
    throw new CountersignError(
      "ERR_ENTRY_TOO_LARGE",
      "a log entry is larger than a bundle allows",
      {
        limit: LIMIT,
        size,
      },
    );
  }
}
