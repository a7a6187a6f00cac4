import type { JsonObject } from "@countersign/core";
import { isInputPart } from "../classify/table.js";
import { splitPointer } from "../patterns/pointer-glob.js";

/** An action of an agent or a browser, created from its name on a receipt or in a notice. */
export type Act = {
  /** The meaning of the name, as text. */
  readonly about: string;
  /** An AG-UI event or a `RunAgentInput`. */
  readonly value: JsonObject;
  readonly clientTools?: ReadonlySet<string>;
};

const RUN = { threadId: "t", runId: "r" } as const;

const tool = (name: string): Act => ({
  about: `a call of the page's tool ${name}`,
  value: { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: name },
  clientTools: new Set([name]),
});
const custom = (name: string): Act => ({
  about: `a CUSTOM event named ${name}`,
  value: { type: "CUSTOM", name, value: {} },
});
const raw = (source: string): Act =>
  source === "" || source === "raw"
    ? { about: "a RAW event without a source", value: { type: "RAW", event: {} } }
    : { about: `a RAW event of the source ${source}`, value: { type: "RAW", source, event: {} } };
const activity = (type: string): Act => ({
  about: `an activity of the type ${type}`,
  value: { type: "ACTIVITY_SNAPSHOT", messageId: "m", activityType: type, content: {} },
});
const interrupt = (reason: string): Act => ({
  about: reason === "" ? "a question to the person" : `a question to the person, reason ${reason}`,
  value: {
    type: "RUN_FINISHED",
    ...RUN,
    outcome: {
      type: "interrupt",
      interrupts: [{ id: "i", reason: reason === "" ? "REASON" : reason }],
    },
  },
});
const agentState = (path: string): Act => ({
  about: `a change of the state at ${path} by the agent`,
  value: { type: "STATE_DELTA", delta: [{ op: "add", path, value: 1 }] },
});
const clientState = (path: string): Act => ({
  about: `a change of the state at ${path} by the browser`,
  value: { ...RUN, messages: [], state: nested(path) },
});
const renderHint = (component: string): Act => ({
  about: `a render hint for the component ${component}`,
  value: { type: "CUSTOM", name: "countersign.ui_render_hint", value: { component, props: {} } },
});
const property = (key: string): Act => ({
  about: `the forwarded property ${key} of a request`,
  value: { ...RUN, messages: [], forwardedProps: { [key]: 1 } },
});
const declaration = (name: string): Act => ({
  about: `a declaration of the tool ${name} by the browser`,
  value: { ...RUN, messages: [], tools: [{ name, description: "", parameters: {} }] },
});
const messages: Act = {
  about: "a message list that changes or drops messages",
  value: { type: "MESSAGES_SNAPSHOT", messages: [] },
};

/** Parts of a request, by their name in the classification table. */
const PARTS: Readonly<Record<string, JsonObject>> = {
  request: {},
  user_message: { messages: [{ id: "m", role: "user", content: "hello" }] },
  tool_result: { messages: [{ id: "m", role: "tool", toolCallId: "c", content: "done" }] },
  resume: { resume: [{ interruptId: "i", status: "resolved" }] },
  state: { state: { KEY: 1 } },
  context: { context: [{ description: "page", value: "cart" }] },
  forwarded_props: { forwardedProps: { KEY: 1 } },
};
const part = (name: string): Act => ({
  about: `the part ${name} of a request`,
  value: { ...RUN, messages: [], ...PARTS[name] },
});

const KINDS: Readonly<Record<string, (name: string) => readonly Act[]>> = {
  tool: (name) => [tool(name), declaration(name)],
  raw: (source) => [raw(source)],
  activity: (type) => [activity(type)],
  interrupt: (reason) => [interrupt(reason)],
  state: (path) => (path.startsWith("/") ? [agentState(path), clientState(path)] : []),
  forwardedProps: (key) => [property(key)],
  forwarded_props: (key) => [property(key)],
  component: (text) => componentActs(text),
  input: (name) => (isInputPart(name) ? [part(name)] : []),
  // Receipts use one name for tools, custom events, RAW events and parts of a request.
  custom: (name) => [
    tool(name),
    custom(name),
    raw(name),
    ...(isInputPart(name) ? [part(name)] : []),
  ],
};

/** The default effects of AG-UI's own event types; a type name alone means a plain event. */
const NATIVE: Readonly<Record<string, readonly Act[]>> = {
  RAW: [raw("")],
  CUSTOM: [custom("NAME")],
  STATE_SNAPSHOT: [agentState("/PATH")],
  STATE_DELTA: [agentState("/PATH")],
  MESSAGES_SNAPSHOT: [messages],
  ACTIVITY_SNAPSHOT: [activity("ACTIVITY")],
  ACTIVITY_DELTA: [activity("ACTIVITY")],
  RUN_FINISHED: [interrupt("")],
  TOOL_CALL_START: [tool("TOOL")],
  TOOL_CALL_ARGS: [tool("TOOL")],
  TOOL_CALL_END: [tool("TOOL")],
  TOOL_CALL_CHUNK: [tool("TOOL")],
  TOOL_CALL_RESULT: [tool("TOOL")],
};

/**
 * The possible meanings of a name on a receipt or in a notice: `tool:delete_user`, `custom:raw`,
 * `state:/ui/theme`, `activity:card`, `interrupt:confirmation`, `component:card`,
 * `forwardedProps:locale`, `input:resume`. Empty for a name without such a prefix.
 */
export function actsNamed(name: string): readonly Act[] {
  if (name === "raw") return [raw("")];
  const colon = name.indexOf(":");
  const kind = name.slice(0, Math.max(colon, 0));
  if (colon === -1 || !Object.hasOwn(KINDS, kind) || colon === name.length - 1) return [];
  return KINDS[kind]?.(name.slice(colon + 1)) ?? [];
}

/**
 * The effects of this AG-UI event type that a policy may block; empty for types that only display.
 */
export function actsOfType(type: string): readonly Act[] {
  return Object.hasOwn(NATIVE, type) ? (NATIVE[type] ?? []) : [];
}

/** Activities that draw the components of a family. */
const ACTIVITIES: ReadonlyMap<string, string> = new Map([
  ["a2ui", "a2ui-surface"],
  ["mcp-app", "mcp-apps"],
  ["html-sandbox", "open-generative-ui"],
]);

/** The actions on a part of the user interface, `type` or `type:id`. */
export function componentActs(target: string): readonly Act[] {
  const [type = "", id] = target.split(/:(.*)/su, 2);
  const drawnBy = ACTIVITIES.get(type);
  // The activity is listed first; its components have rules of their own.
  if (id !== undefined && drawnBy !== undefined) return [activity(drawnBy)];
  if (type === "interrupt") return [interrupt(id ?? "")];
  if (type === "chat-window") return [messages];
  return [activity(type), renderHint(type)];
}

function nested(path: string): JsonObject {
  let value: JsonObject | number = 1;
  for (const segment of splitPointer(path).toReversed()) value = { [String(segment)]: value };
  return value === 1 ? {} : (value as JsonObject);
}
