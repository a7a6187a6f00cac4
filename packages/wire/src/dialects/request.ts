import { CountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { childPath } from "../enforce/note.js";
import type { RunAgentInput } from "../model/input.js";
import { flattenParts } from "./legacy/downgrade-content.js";
import { downgradeLegacyInput } from "./legacy/downgrade-input.js";
import type { LegacyTarget } from "./legacy/downgrade.js";
import { INPUT_POSITION } from "./legacy/positions.js";
import { normaliseObject } from "./legacy/walk.js";
import { createNoteSink } from "./note.js";
import type { DialectNote, NoteSink } from "./note.js";
import { assertUpgradeOptions } from "./options.js";
import type { UpgradeOptions } from "./options.js";

/** A request body in the form of 1.0, not yet enforced. */
export type UpgradedInput = { input: JsonObject; notes: DialectNote[] };

/**
 * A request body of any dialect as a `RunAgentInput`. With `auto`, a body that has `message` and
 * neither `messages` nor a thread is a 0.1.0 request; one that declares a protocol version is 1.0.
 */
export function upgradeInput(
  body: JsonValue,
  options: Omit<UpgradeOptions, "dialect"> & { dialect: "auto" | "1.0" | "0.0" | "0.1.0" },
): UpgradedInput {
  assertUpgradeOptions(options);
  if (!isJsonObject(body)) throw refused("body", "a JSON object");
  const notes: DialectNote[] = [];
  const note = createNoteSink(notes, 0);
  if (options.dialect === "0.1.0" || (options.dialect === "auto" && isSupersededRequest(body))) {
    return { input: upgradeSupersededRequest(body, options, note), notes };
  }
  const lenient =
    options.dialect === "0.0" ||
    (options.dialect === "auto" && !Object.hasOwn(body, "protocolVersion"));
  return {
    input: normaliseObject(body, INPUT_POSITION, "", { eventNumber: 0, note, lenient }),
    notes,
  };
}

function isSupersededRequest(body: JsonObject): boolean {
  const has = (name: string): boolean => Object.hasOwn(body, name);
  return has("message") && !has("messages") && !has("threadId") && !has("thread_id");
}

function upgradeSupersededRequest(
  body: JsonObject,
  options: Omit<UpgradeOptions, "dialect">,
  note: NoteSink,
): JsonObject {
  const message = ownMember(body, "message");
  if (typeof message !== "string") throw refused("message", "a string");
  for (const key of Object.keys(body)) {
    if (key !== "message") note("field-dropped", childPath("", key));
  }
  note("thread-id-supplied");
  note("run-id-supplied");
  return {
    threadId: options.threadId ?? options.mintId("thread"),
    runId: options.runId ?? options.mintId("run"),
    protocolVersion: "1.0",
    messages: [{ id: options.mintId("message"), role: "user", content: message }],
  };
}

/**
 * An input with every member that agents of the 0.0 line require and 1.0 leaves optional, as the official clients
 * send them: empty, where the client said nothing.
 */
export function completeInput(input: RunAgentInput): RunAgentInput {
  return {
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
    ...input,
  };
}

const DROPPED_BY_SUPERSEDED = [
  "threadId",
  "runId",
  "parentRunId",
  "state",
  "tools",
  "context",
  "forwardedProps",
  "resume",
] as const;

/** A run's input for an agent that speaks an older dialect; `0.1.0` gets the last user message alone. */
export function downgradeInput(
  input: RunAgentInput,
  target: LegacyTarget | "0.1.0",
): { body: JsonObject; notes: DialectNote[] } {
  const notes: DialectNote[] = [];
  const note = createNoteSink(notes, 0);
  if (target !== "0.1.0") {
    return { body: downgradeLegacyInput(completeInput(input), target, note), notes };
  }
  const last = input.messages.at(-1);
  // An older message than the last would be answered a second time.
  if (last?.role !== "user") throw refused("messages", "a list that ends with a user message");
  if (input.messages.length > 1) note("history-dropped", "/messages");
  for (const field of DROPPED_BY_SUPERSEDED) {
    if (input[field] !== undefined) note("field-dropped", `/${field}`);
  }
  const { content } = last;
  const at = `/messages/${input.messages.length - 1}/content`;
  const message = typeof content === "string" ? content : flattenParts(content, at, note);
  return { body: { message }, notes };
}

function refused(field: string, expected: string): CountersignError<"ERR_DIALECT_REQUEST"> {
  return new CountersignError("ERR_DIALECT_REQUEST", `the request's ${field} must be ${expected}`, {
    field,
    expected,
  });
}
