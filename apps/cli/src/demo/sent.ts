import type { JsonValue } from "@countersign/core";
import { payloadHash } from "@countersign/receipts/verify";
import type { AgUiEvent, Message } from "@countersign/wire";

/** One act of an agent: a tool call, a message, or a single event. */
export type SentAct = {
  /** The id of the call or of the message; for other events the hash. */
  readonly id: string;
  readonly tool?: string;
  /** The arguments as the agent sent them, JSON text. */
  args?: string;
  text?: string;
  /** The drawing of the agent: the content of an activity. */
  readonly drawn?: JsonValue;
  /** The role in which the agent sent a message, other than its own. */
  readonly role?: string;
};

/** The acts that an agent sent, found by the payload hash of a receipt. */
export type SentActs = {
  /** Begins a run; the function returned takes its events. Both sides of the demo use one run id. */
  begin(runId: string): (event: AgUiEvent) => void;
  find(runId: string, hash: string): SentAct | undefined;
};

const MAX_RUNS = 64;
const MAX_ACTS = 1024;
const MAX_TEXT = 4096;

type RunActs = { readonly byId: Map<string, SentAct>; readonly byHash: Map<string, SentAct> };

/**
 * Keeps the acts of the newest runs. A receipt holds the hash of an event and not its content: the
 * demo, whose agent it is, finds the content by the hash.
 */
export function createSentActs(): SentActs {
  const runs = new Map<RunActs, string>();
  return {
    begin: (runId) => {
      const run: RunActs = { byId: new Map(), byHash: new Map() };
      runs.set(run, runId);
      const [oldest] = runs.keys();
      if (runs.size > MAX_RUNS && oldest !== undefined) runs.delete(oldest);
      return (event) => {
        if (run.byHash.size < MAX_ACTS) addEvent(run, event);
      };
    },
    find: (runId, hash) => {
      for (const [run, id] of runs) {
        const act = id === runId ? run.byHash.get(hash) : undefined;
        if (act !== undefined) return act;
      }
      return undefined;
    },
  };
}

function addEvent(run: RunActs, event: AgUiEvent): void {
  if (event.type === "MESSAGES_SNAPSHOT") {
    for (const message of event.messages) {
      const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
      for (const call of calls) addListedCall(run, call.id, call.function);
      if (message.role !== "assistant") addListedMessage(run, message);
    }
  }
  const hash = hashOf(event);
  const act = actOf(run, event, hash);
  run.byId.set(act.id, act);
  run.byHash.set(hash, act);
}

/** The gateway evaluates a call in a list of messages as the start of that call. */
function addListedCall(
  run: RunActs,
  id: string,
  { name, arguments: args }: { readonly name: string; readonly arguments: string },
): void {
  if (run.byId.has(id)) return;
  const act: SentAct = { id, tool: name, args: args.slice(0, MAX_TEXT) };
  run.byId.set(id, act);
  run.byHash.set(hashOf({ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name }), act);
}

/** The gateway evaluates a listed message of another role as the start of that message. */
function addListedMessage(run: RunActs, { id, role, content }: Message): void {
  if (typeof content !== "string" || run.byId.has(id)) return;
  const act: SentAct = { id, role, text: content.slice(0, MAX_TEXT) };
  run.byId.set(id, act);
  run.byHash.set(hashOf({ type: "TEXT_MESSAGE_START", messageId: id, role } as AgUiEvent), act);
}

function actOf(run: RunActs, event: AgUiEvent, hash: string): SentAct {
  switch (event.type) {
    case "ACTIVITY_SNAPSHOT":
      return { id: event.messageId, drawn: event.content };
    case "TOOL_CALL_START":
      return run.byId.get(event.toolCallId) ?? { id: event.toolCallId, tool: event.toolCallName };
    case "TOOL_CALL_ARGS": {
      const act = run.byId.get(event.toolCallId) ?? { id: event.toolCallId };
      act.args = `${act.args ?? ""}${event.delta}`.slice(0, MAX_TEXT);
      return act;
    }
    case "TOOL_CALL_END":
      return run.byId.get(event.toolCallId) ?? { id: event.toolCallId };
    case "TEXT_MESSAGE_START": {
      const { messageId: id, role = "assistant" } = event;
      return run.byId.get(id) ?? (role === "assistant" ? { id } : { id, role });
    }
    case "TEXT_MESSAGE_END":
      return run.byId.get(event.messageId) ?? { id: event.messageId };
    case "TEXT_MESSAGE_CONTENT": {
      const act = run.byId.get(event.messageId) ?? { id: event.messageId };
      act.text = `${act.text ?? ""}${event.delta}`.slice(0, MAX_TEXT);
      return act;
    }
    default:
      return { id: hash };
  }
}

function hashOf(event: AgUiEvent): string {
  return payloadHash(JSON.parse(JSON.stringify(event)) as JsonValue);
}
