import { canonicalJson, isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Message } from "../../model/message.js";
import type { DialectRule } from "../note.js";

type Call = { readonly id: string; readonly name: string; readonly arguments: string };

/** Events of a repeated call that are held; a framework that repeats a call sends three. */
const MAX_HELD_EVENTS = 1024;

/**
 * Drops a call that the agent announces again although the request's history has it: a client would append the
 * arguments to those it has, and they would no longer be JSON.
 *
 * Its events are held until the arguments are complete. Other arguments or an event in between release them as they
 * came, for the gateway to judge.
 */
export class RepeatedCalls {
  readonly #messages: readonly Message[];
  #known: Map<string, Call> | undefined;
  #call: Call | undefined;
  #held: JsonObject[] = [];
  #arguments = "";
  /** Calls that were dropped before their end came. */
  #withoutEnd: Set<string> | undefined;

  constructor(messages: readonly Message[]) {
    this.#messages = messages;
  }

  get isHolding(): boolean {
    return this.#call !== undefined;
  }

  /** The events to forward: this event, those held before it, or none. */
  push(event: JsonObject, rules: DialectRule[]): JsonObject[] {
    const call = this.#call;
    if (call === undefined) return this.#begin(event);
    const type = ownMember(event, "type");
    const isOfCall = ownMember(event, "toolCallId") === call.id;
    if (isOfCall && type === "TOOL_CALL_ARGS" && this.#hold(event, call)) return [];
    const isEnd = type === "TOOL_CALL_END";
    // Some frameworks leave out the end of a call that they announce for its result.
    const isComplete = isOfCall && (isEnd || type === "TOOL_CALL_RESULT");
    if (!isComplete || !isSame(this.#arguments, call.arguments)) {
      return [...this.end(), ...this.#begin(event)];
    }
    rules.push("repeated-call-dropped");
    this.end();
    if (isEnd) return [];
    this.#withoutEnd ??= new Set();
    this.#withoutEnd.add(call.id);
    return [event];
  }

  /** The events that are still held. */
  end(): JsonObject[] {
    this.#call = undefined;
    this.#arguments = "";
    return this.#held.splice(0);
  }

  #begin(event: JsonObject): JsonObject[] {
    const type = ownMember(event, "type");
    const id = ownMember(event, "toolCallId");
    if (typeof id !== "string") return [event];
    if (type === "TOOL_CALL_END" && this.#withoutEnd?.delete(id) === true) return [];
    if (type !== "TOOL_CALL_START") return [event];
    this.#known ??= callsOf(this.#messages);
    const known = this.#known.get(id);
    if (known === undefined || known.name !== ownMember(event, "toolCallName")) return [event];
    this.#call = known;
    this.#held.push(event);
    return [];
  }

  /** Whether there is room to hold these arguments: more than twice what the history has are others. */
  #hold(event: JsonObject, call: Call): boolean {
    const delta = ownMember(event, "delta");
    if (typeof delta !== "string" || this.#held.length >= MAX_HELD_EVENTS) return false;
    // Text within text has a backslash before each quotation mark.
    if (this.#arguments.length + delta.length > 2 * call.arguments.length + 1024) return false;
    this.#arguments += delta;
    this.#held.push(event);
    return true;
  }
}

function callsOf(messages: readonly Message[]): Map<string, Call> {
  const calls = new Map<string, Call>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const { id, function: called } of message.toolCalls ?? []) {
      calls.set(id, { id, name: called.name, arguments: called.arguments });
    }
  }
  return calls;
}

/** Whether two texts are the same arguments: as JSON, or inside the `input` that LangChain puts around them. */
function isSame(repeated: string, known: string): boolean {
  if (repeated === known) return true;
  const expected = valueOf(known);
  const value = valueOf(repeated);
  if (expected === undefined || value === undefined) return false;
  const text = canonicalJson(expected);
  if (canonicalJson(value) === text) return true;
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return false;
  const inner = ownMember(value, "input");
  const wrapped = typeof inner === "string" ? valueOf(inner) : inner;
  return wrapped !== undefined && canonicalJson(wrapped) === text;
}

function valueOf(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
