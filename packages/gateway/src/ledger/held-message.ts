import { createHash } from "node:crypto";
import type { JsonObject } from "@countersign/core";
import type { Message, ToolCall } from "@countersign/wire";
import { digestOf, EMPTY_DIGEST, meaningOf } from "./digest.js";
import { fieldsOf, recordOf } from "./message-record.js";
import type { CallRecord, MessageRecord } from "./message-record.js";

/** Beginnings kept of a text that was cut off: a client is rarely further behind. */
const MAX_BEGINNINGS = 4096;

/** Text that grows by pieces; hashed only when somebody asks. */
export class HeldText {
  readonly #pieces: string[] = [];
  #digest: string | undefined;

  constructor(text = "") {
    if (text !== "") this.#pieces.push(text);
  }

  append(piece: string): void {
    if (piece === "") return;
    this.#pieces.push(piece);
    this.#digest = undefined;
  }

  digest(): string {
    return (this.#digest ??= digestOf(this.#pieces.join("")));
  }

  /** The digest of what it means as a call's arguments: two spellings of one value are one. */
  meaning(): string {
    return meaningOf(this.#pieces.join(""));
  }

  /** Digests of every beginning at a piece's end, the empty one first. */
  beginnings(): string[] {
    const hash = createHash("sha256");
    const digests = [EMPTY_DIGEST];
    const skipped = this.#pieces.length - MAX_BEGINNINGS;
    for (const [index, piece] of this.#pieces.entries()) {
      hash.update(piece);
      if (index >= skipped) digests.push(hash.copy().digest("hex"));
    }
    return digests;
  }
}

type Annotated = { metadata?: JsonObject | undefined };

/** A call as a client holds it. */
export class HeldCall {
  readonly id: string;
  name: string;
  readonly arguments: HeldText;
  readonly fields: Record<string, unknown> = {};
  isOpen = false;

  constructor(id: string, name: string, text = "") {
    this.id = id;
    this.name = name;
    this.arguments = new HeldText(text);
  }

  static of(call: ToolCall): HeldCall {
    const held = new HeldCall(call.id, call.function.name, call.function.arguments);
    Object.assign(held.fields, call);
    return held;
  }

  annotate({ metadata }: Annotated): void {
    mergeMetadata(this.fields, metadata);
  }

  record(isCut: boolean): CallRecord {
    const fields = fieldsOf(this.fields);
    return {
      id: this.id,
      name: this.name,
      arguments: isCut ? this.arguments.beginnings() : [this.arguments.digest()],
      ...(fields === undefined ? {} : { fields }),
      ...(this.isOpen && !isCut ? { open: true } : {}),
    };
  }
}

/** A message as a client holds it while a run writes into it. */
export class HeldMessage {
  readonly id: string;
  readonly role: Message["role"];
  readonly text: HeldText;
  readonly fields: Record<string, unknown> = {};
  readonly calls: HeldCall[];
  isOpen = false;
  /** Content that is not text. */
  readonly #content: Message["content"];

  constructor(message: Message) {
    this.id = message.id;
    this.role = message.role;
    this.#content = typeof message.content === "string" ? undefined : message.content;
    this.text = new HeldText(typeof message.content === "string" ? message.content : "");
    Object.assign(this.fields, message);
    const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
    this.calls = calls.map((call) => HeldCall.of(call));
  }

  annotate({ metadata }: Annotated): void {
    mergeMetadata(this.fields, metadata);
  }

  /** For the ledger; of a cut run every beginning that the client may have stopped at. */
  record(isCut = false): MessageRecord {
    const { fields } = recordOf({
      ...this.fields,
      content: "",
      toolCalls: [],
    } as unknown as Message);
    return {
      role: this.role,
      content:
        this.#content === undefined
          ? isCut
            ? this.text.beginnings()
            : [this.text.digest()]
          : [digestOf(this.#content)],
      ...(fields === undefined ? {} : { fields }),
      ...(this.calls.length === 0 ? {} : { calls: this.calls.map((call) => call.record(isCut)) }),
      ...(this.isOpen && !isCut ? { open: true } : {}),
      ...(isCut ? { cut: true } : {}),
    };
  }
}

/** Per key, the last one counts; never deeper. */
function mergeMetadata(fields: Record<string, unknown>, metadata: JsonObject | undefined): void {
  if (metadata === undefined) return;
  fields["metadata"] = { ...(fields["metadata"] as JsonObject | undefined), ...metadata };
}
