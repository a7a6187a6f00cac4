import type { JsonObject, JsonValue } from "@countersign/core";
import type { Message } from "@countersign/wire";
import { ClientState } from "../classify/client-state.js";
import type { EventFacts } from "../classify/facts.js";
import { asObject } from "../base/json-object.js";
import { isClassification } from "../vocabulary/classification.js";
import { readEventType } from "../vocabulary/event-type.js";
import { OPERATOR_AGENT, OPERATOR_STOP_RULE } from "../vocabulary/operator.js";
import type { Transport } from "../compile/facts.js";
import { FileThread } from "./thread.js";
import type { ThreadPolicy, UiSubject } from "./thread.js";

/** One recorded event or request to evaluate again. */
export type RecordedSubject = UiSubject & {
  /** Its position: the line of a capture, the sequence number of a log entry. */
  readonly position: number;
  readonly transport: Transport;
  /** The recorded decision, if any; captures contain only delivered events. */
  readonly allowed?: boolean;
  /** The recorded token; its scopes are not recorded. */
  readonly capabilityId?: string;
  /** The payload is missing: only class, type and target can be evaluated again. */
  readonly isPartial: boolean;
};

/** A parsed recording: its subjects, and the lines that could not be used. */
export type Recording = {
  readonly subjects: readonly RecordedSubject[];
  readonly skipped: readonly { readonly position: number; readonly problem: string }[];
};

/**
 * Prepares a recording for evaluation. A line is a native event, an envelope, a request, one of
 * these under `event`, `data` or `input`, or a log entry with its `receipt`. Generative UI is read
 * like in the gateway; a recording is one thread.
 */
export function readRecording(lines: readonly JsonValue[], policy: ThreadPolicy): Recording {
  const calls = collectCalls(lines);
  const subjects: RecordedSubject[] = [];
  const skipped: { position: number; problem: string }[] = [];
  const thread = new FileThread(policy, new ClientState({}, [], { sent: [] }));
  lines.forEach((line, index) => {
    const position = index + 1;
    const object = asObject(line);
    const entry = object === undefined ? undefined : readEntry(object, position);
    if (entry !== undefined) {
      // Operator actions are in the same log, and no policy decides about them.
      if (isOperatorAct(object)) skipped.push({ position, problem: "an act of an operator" });
      else subjects.push(entry);
      return;
    }
    const value = unwrap(line);
    const { subject, problem } = thread.read(value, calls);
    if (subject === undefined) return void skipped.push({ position, problem });
    const facts = asOfNow(subject.facts);
    const transport = transportOf(object);
    subjects.push({ ...subject, facts, position, transport, isPartial: false });
    // A capture contains delivered events.
    thread.see(subject);
    if (facts.source === "RUN_AGENT_INPUT") thread.client = clientOf(subject.value);
  });
  return { subjects, skipped };
}

/** The state and messages of a client that sends this request. */
function clientOf({ state, messages }: JsonObject): ClientState {
  const sent = (messages ?? []) as unknown as Message[];
  return new ClientState(state ?? {}, sent, { sent });
}

/** Evaluates the changes now, before the next event changes more. */
function asOfNow(facts: EventFacts): EventFacts {
  if (facts.changes === undefined) return facts;
  let found: JsonValue | undefined;
  try {
    found = facts.changes();
  } catch {
    // It stays unevaluated.
  }
  const changes = (): JsonValue => {
    if (found === undefined) throw new TypeError("what changes is unknown");
    return found;
  };
  return { ...facts, changes };
}

type Calls = {
  readonly clientTools?: ReadonlySet<string>;
  readonly toolNames: ReadonlyMap<string, string>;
  readonly toolArguments: ReadonlyMap<string, string>;
};

// A recording is complete: the arguments that follow a start are known when the start is evaluated.
function collectCalls(lines: readonly JsonValue[]): Calls {
  const toolNames = new Map<string, string>();
  const toolArguments = new Map<string, string>();
  let clientTools: Set<string> | undefined;
  let openId: string | undefined;
  for (const line of lines) {
    const value = asObject(unwrap(line));
    if (value === undefined) continue;
    const type = text(value["type"]) ?? "";
    if (type === "TOOL_CALL_START" || type === "TOOL_CALL_CHUNK" || type === "TOOL_CALL_ARGS") {
      openId = text(value["toolCallId"]) ?? openId;
      if (openId === undefined) continue;
      const name = text(value["toolCallName"]);
      if (name !== undefined && !toolNames.has(openId)) toolNames.set(openId, name);
      toolArguments.set(openId, (toolArguments.get(openId) ?? "") + (text(value["delta"]) ?? ""));
    }
    const input =
      type === "RUN_STARTED" ? asObject(value["input"]) : type === "" ? value : undefined;
    const tools = input?.["tools"];
    if (Array.isArray(tools)) {
      clientTools ??= new Set();
      for (const tool of tools) {
        const name = text(asObject(tool)?.["name"]);
        if (name !== undefined) clientTools.add(name);
      }
    }
  }
  return { toolNames, toolArguments, ...(clientTools === undefined ? {} : { clientTools }) };
}

function unwrap(line: JsonValue): JsonValue {
  const object = asObject(line);
  if (object === undefined || typeof object["type"] === "string" || "event_type" in object) {
    // RAW also has its foreign event under `event`, but has its own type.
    return line;
  }
  for (const key of ["event", "data", "input"]) {
    const inner = asObject(object[key]);
    if (inner !== undefined) return inner;
  }
  return line;
}

// By members that only the gateway writes: a browser that imitates an operator action must not hide
// its message.
function isOperatorAct(entry: JsonObject | undefined): boolean {
  const agent = asObject(entry?.["receipt"])?.["agent_id"];
  return agent === OPERATOR_AGENT || entry?.["rule"] === OPERATOR_STOP_RULE;
}

function readEntry(entry: JsonObject, position: number): RecordedSubject | undefined {
  const receipt = asObject(entry["receipt"]);
  if (receipt === undefined) return undefined;
  const type = readEventType(receipt["event_type"]);
  const classification = receipt["classification"];
  if (type === undefined || !isClassification(classification)) return undefined;
  const target = asObject(receipt["target"]);
  const componentType = text(target?.["component_type"]);
  const componentId = text(target?.["component_id"]);
  const facts: EventFacts = {
    source: "ENVELOPE",
    direction: entry["direction"] === "inbound" ? "inbound" : "outbound",
    ...type,
    classification,
    derived: classification,
    ...(componentType === undefined
      ? {}
      : {
          target: {
            component_type: componentType,
            ...(componentId === undefined ? {} : { component_id: componentId }),
          },
        }),
  };
  const capabilityId = text(receipt["capability_id"]);
  return {
    facts,
    value: receipt,
    position: typeof entry["seq"] === "number" ? entry["seq"] : position,
    transport: transportOf(receipt),
    allowed: receipt["allowed"] === true,
    ...(capabilityId === undefined || capabilityId === "<none>" ? {} : { capabilityId }),
    isPartial: true,
  };
}

function transportOf(value: JsonObject | undefined): Transport {
  const transport = value?.["transport"];
  return transport === "websocket" || transport === "web_socket" ? "websocket" : "sse";
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
