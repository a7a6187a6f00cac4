import { isDeepStrictEqual } from "node:util";
import { isJsonObject, ownMember, parseJson, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { listMember, sortedText, textMember } from "../oatf/json/values.js";
import {
  ACCUMULATED_ACTIVITY,
  ACCUMULATED_MESSAGE,
  ACCUMULATED_REASONING,
  ACCUMULATED_RESPONSE,
  ACCUMULATED_STATE,
  ACCUMULATED_TOOL_CALL,
} from "../oatf/model/events.js";

type Call = { id: string; name: string; arguments: string; result: string | null };
type Text = { id: string; role: string; content: string; tool_calls: Call[] };
type Thought = { id: string; content: string };
/** `content` is undefined after a patch that did not apply, because pages then differ. */
type Activity = { type: string; content: JsonValue | undefined };

/** An entry that puts pieces of a run together. */
export type JoinedEntry = { readonly event: string; readonly content: JsonObject };

/** Joins the pieces of one run. */
export type Accumulator = {
  add(name: string, event: JsonObject): void;
  /** `{messages, reasoning}` in the order of first appearance; `undefined` when there was nothing to join. */
  content(): JsonObject | undefined;
  /** The run as a whole, then each of its messages and calls, with the names that documents give their parts. */
  entries(): JoinedEntry[];
};

const ANONYMOUS = "";

/**
 * Joins deltas into whole texts. Patterns look at one message at a time, so a word cut across two deltas
 * would pass them by. What an agent says in a MESSAGES_SNAPSHOT alone is joined too; what stands in the input is not
 * the agent's.
 */
export function createAccumulator(input: JsonObject = {}): Accumulator {
  const messages = new Map<string, Text>();
  const calls = new Map<string, Call>();
  const reasoning = new Map<string, Thought>();
  // The fields of all events of a message or call, so that a joined entry says of it what they say.
  const fields = new Map<Text | Call | Thought, JsonObject>();
  const activities = new Map<string, Activity>();
  const state = createJoinedState(ownMember(input, "state") ?? {});
  let lastMessage = ANONYMOUS;
  let lastCall = ANONYMOUS;
  let lastReasoning = ANONYMOUS;

  const note = (unit: Text | Call | Thought, event: JsonObject): void => {
    const known = fields.get(unit) ?? {};
    for (const [key, value] of Object.entries(event)) setMember(known, key, value);
    fields.set(unit, known);
  };
  const messageOf = (id: string, role: string | undefined): Text => {
    let message = messages.get(id);
    if (message === undefined) {
      message = { id, role: role ?? "assistant", content: "", tool_calls: [] };
      messages.set(id, message);
    }
    return message;
  };
  const addText = (event: JsonObject): void => {
    lastMessage = textMember(event, "messageId") ?? lastMessage;
    const message = messageOf(lastMessage, textMember(event, "role"));
    message.content += textMember(event, "delta") ?? "";
    note(message, event);
  };
  const addCall = (event: JsonObject): void => {
    lastCall = textMember(event, "toolCallId") ?? lastCall;
    let call = calls.get(lastCall);
    if (call === undefined) {
      const name = textMember(event, "toolCallName") ?? "";
      call = { id: lastCall, name, arguments: "", result: null };
      calls.set(lastCall, call);
      messageOf(textMember(event, "parentMessageId") ?? lastCall, "assistant").tool_calls.push(
        call,
      );
    }
    call.arguments += textMember(event, "delta") ?? "";
    note(call, event);
  };
  // Texts and calls that only snapshots contain; kept apart, because the agent may still stream them.
  const told = new Map<string, Text>();
  const toldCalls = new Map<string, Call>();
  const given = readGiven(input);
  const tell = (id: string, content: string): void => {
    if (content === "" || given.texts.has(content)) return;
    told.set(content, { id, role: "assistant", content, tool_calls: [] });
  };
  const addSnapshot = (event: JsonObject): void => {
    for (const message of listMember(event, "messages")) {
      const id = textMember(message, "id") ?? ANONYMOUS;
      if (given.ids.has(id)) continue;
      const role = textMember(message, "role");
      const content = ownMember(message, "content") ?? null;
      if (role === "activity") {
        activities.set(id, { type: textMember(message, "activityType") ?? "", content });
      } else if (role === "reasoning" && !reasoning.has(id)) {
        reasoning.set(id, { id, content: textOf(content) });
      }
      if (role !== "assistant") continue;
      tell(id, textOf(content));
      for (const call of listMember(message, "toolCalls")) {
        const made = ownMember(call, "function");
        const callId = textMember(call, "id") ?? ANONYMOUS;
        if (given.ids.has(callId)) continue;
        const name = textMember(made, "name") ?? "";
        const args = textMember(made, "arguments") ?? "";
        toldCalls.set(callId, { id: callId, name, arguments: args, result: null });
      }
    }
  };
  // A page shows the result of a run and the questions of its end as it shows a text.
  const addEnd = (event: JsonObject): void => {
    tell(ANONYMOUS, textIn(ownMember(event, "result") ?? null, given.texts).trim());
    for (const interrupt of listMember(ownMember(event, "outcome"), "interrupts")) {
      tell(ANONYMOUS, textMember(interrupt, "message") ?? "");
    }
  };
  const addReasoning = (event: JsonObject): void => {
    lastReasoning = textMember(event, "messageId") ?? lastReasoning;
    const thought = reasoning.get(lastReasoning) ?? { id: lastReasoning, content: "" };
    thought.content += textMember(event, "delta") ?? "";
    reasoning.set(lastReasoning, thought);
    note(thought, event);
  };
  const addActivity = (name: string, event: JsonObject): void => {
    const id = textMember(event, "messageId") ?? ANONYMOUS;
    const type = textMember(event, "activityType") ?? "";
    const known = activities.get(id);
    if (name === "activity_delta") {
      const content = patched(known?.content, listMember(event, "patch"));
      if (known !== undefined) activities.set(id, { type: type || known.type, content });
    } else if (known === undefined || ownMember(event, "replace") !== false) {
      activities.set(id, { type, content: ownMember(event, "content") });
    }
  };
  const allMessages = (): Text[] => {
    const streamed = new Set([...messages.values()].map((message) => message.content));
    return [
      ...messages.values(),
      ...[...told.values()].filter((message) => !streamed.has(message.content)),
    ];
  };
  const content = (): JsonObject | undefined => {
    const all = allMessages();
    if (all.length === 0 && reasoning.size === 0) return undefined;
    return { messages: all, reasoning: [...reasoning.values()] };
  };
  return {
    add(name, event) {
      if (/^text_message_(start|content|chunk)$/.test(name)) addText(event);
      else if (/^tool_call_(start|args|chunk)$/.test(name)) addCall(event);
      else if (name === "tool_call_result") {
        const call = calls.get(textMember(event, "toolCallId") ?? ANONYMOUS);
        if (call !== undefined) call.result = textMember(event, "content") ?? null;
      } else if (name === "messages_snapshot") addSnapshot(event);
      else if (name === "run_finished") addEnd(event);
      else if (name === "state_snapshot" || name === "state_delta") state.add(name, event);
      else if (/^(reasoning_message|thinking_text_message)_(start|content|chunk)$/.test(name)) {
        addReasoning(event);
      } else if (/^activity_(snapshot|delta)$/.test(name)) addActivity(name, event);
    },
    content,
    entries() {
      const joined = content();
      const made = [...toldCalls.values()].filter(({ id }) => !calls.has(id));
      const drawn = [...activities].flatMap(
        ([messageId, { type: activityType, content: shown }]) =>
          shown === undefined
            ? []
            : [{ messageId, activityType, content: shown, text: textIn(shown) }],
      );
      const others = [
        ...drawn.map((content) => ({ event: ACCUMULATED_ACTIVITY, content })),
        ...state.entries(),
      ];
      const said = allMessages().filter((message) => message.content !== "");
      const shown = drawn.map(({ text }) => text).filter((text) => text.trim() !== "");
      const whole = [...said.map((message) => message.content), ...shown].join("\n");
      if (joined === undefined && made.length === 0 && whole === "") return others;
      return [
        { event: ACCUMULATED_RESPONSE, content: { ...joined, ...answerOf(whole) } },
        ...said.map((message) => ({
          event: ACCUMULATED_MESSAGE,
          content: {
            ...(fields.get(message) ?? { messageId: message.id, role: message.role }),
            delta: message.content,
            ...answerOf(message.content),
          },
        })),
        ...[...reasoning.values()].map((thought) => ({
          event: ACCUMULATED_REASONING,
          content: { ...fields.get(thought), delta: thought.content, content: thought.content },
        })),
        ...[...calls.values(), ...made].flatMap((call) =>
          argumentsOf(call.arguments).map((value) => ({
            event: ACCUMULATED_TOOL_CALL,
            content: {
              ...(fields.get(call) ?? { toolCallId: call.id, toolCallName: call.name }),
              name: call.name,
              delta: call.arguments,
              arguments: value,
            },
          })),
        ),
        ...others,
      ];
    },
  };
}

/** The state of a run after its patches. What the request wrote, and the agent did not change, is not the agent's. */
function createJoinedState(given: JsonValue) {
  let current: JsonValue | undefined = given;
  let isOwn = false;
  let isPatched = false;
  return {
    add(name: string, event: JsonObject): void {
      if (name === "state_snapshot") {
        current = ownMember(event, "snapshot");
        isOwn = true;
      } else {
        current = patched(current, listMember(event, "delta"));
        isPatched = true;
      }
    },
    entries(): JoinedEntry[] {
      if (!isPatched || current === undefined) return [];
      const snapshot = isOwn ? current : changesOf(given, current);
      if (snapshot === undefined) return [];
      return [{ event: ACCUMULATED_STATE, content: { snapshot, text: textIn(snapshot) } }];
    },
  };
}

/** The members of a value that differ from those before; `undefined` if none does. */
function changesOf(before: JsonValue | undefined, after: JsonValue): JsonValue | undefined {
  if (isDeepStrictEqual(before, after)) return undefined;
  if (!isJsonObject(before) || !isJsonObject(after)) return after;
  const changes: JsonObject = {};
  for (const [key, member] of Object.entries(after)) {
    const change = changesOf(ownMember(before, key), member);
    if (change !== undefined) setMember(changes, key, change);
  }
  return changes;
}

/** A document after a patch of the agent; `undefined` if it does not apply. */
function patched(
  document: JsonValue | undefined,
  patch: readonly JsonValue[],
): JsonValue | undefined {
  const isPatch = patch.every(
    (operation) =>
      /^(?:add|remove|replace|move|copy|test)$/.test(textMember(operation, "op") ?? "") &&
      textMember(operation, "path") !== undefined,
  );
  if (document === undefined || !isPatch) return undefined;
  try {
    const result = applyJsonPatch(document, patch as JsonPatch);
    return result.applied ? result.document : undefined;
  } catch {
    // A patch over a bound, or with an operation that lacks a member.
    return undefined;
  }
}

/** All texts of a value but the known ones: elements of a list joined as pieces, members one per line. */
function textIn(value: JsonValue, known: ReadonlySet<string> = new Set()): string {
  if (typeof value === "string") return known.has(value) ? "" : value;
  if (Array.isArray(value)) return value.map((item) => textIn(item, known)).join("");
  if (!isJsonObject(value)) return "";
  return Object.values(value)
    .map((member) => textIn(member, known))
    .join("\n");
}

/** The text of a message, also in parts. */
function textOf(content: JsonValue): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part) => textMember(part, "text") ?? "").join("");
}

/** Ids and texts of the client's own messages: an agent that repeats them has said nothing of its own. */
function readGiven(input: JsonObject): { ids: ReadonlySet<string>; texts: ReadonlySet<string> } {
  const ids = new Set<string>();
  const texts = new Set<string>();
  for (const message of listMember(input, "messages")) {
    for (const named of [message, ...listMember(message, "toolCalls")]) {
      const id = textMember(named, "id");
      if (id !== undefined) ids.add(id);
    }
    texts.add(textMember(message, "content") ?? "");
  }
  return { ids, texts };
}

/** The names under which documents look for the answer. */
function answerOf(text: string): JsonObject {
  return text === "" ? {} : { response: { content: text }, content: text, body: text };
}

/** Arguments as a value, so that paths lead into it, and as the text they came in where string operators see another. */
function argumentsOf(text: string): JsonValue[] {
  try {
    const value = parseJson(text);
    return sortedText(value) === text ? [value] : [value, text];
  } catch {
    return [text];
  }
}
