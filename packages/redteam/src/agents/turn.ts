import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { JsonObject } from "@countersign/core";
import type { PeerAddresses } from "./peers.js";

/** A request as it reaches an agent. */
export type AgentRequest = {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** The response of an agent: a refusal before any stream, or events. */
export type AgentAnswer =
  | { readonly refusal: { readonly status: number; readonly code: string } }
  | { readonly events: readonly JsonObject[] };

/** An agent without its transport. */
export type AgentLogic = { answer(request: AgentRequest): AgentAnswer | Promise<AgentAnswer> };

/** Options of a demo agent. */
export type AgentOptions = {
  /** Gives the addresses of its tool servers and of other agents; called at the start of every run. */
  servers?(): PeerAddresses | Promise<PeerAddresses>;
};

/** Collects the events of one run. */
export type Turn = {
  readonly threadId: string;
  readonly runId: string;
  readonly events: readonly JsonObject[];
  emit(event: JsonObject): void;
  /** A message in pieces, cut without regard for words. */
  say(text: string, role?: string): void;
  call(tool: string, args: JsonObject, id?: string): string;
  result(toolCallId: string, content: string): void;
  finish(more?: JsonObject): void;
};

const PIECE = 12;

/** A text in pieces, cut without regard for words. */
export function pieces(text: string): string[] {
  const size = Math.max(PIECE, Math.ceil(text.length / 200));
  const cut: string[] = [];
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
  return cut;
}

/** A run that begins. */
export function createTurn(threadId: string, runId: string, started: JsonObject = {}): Turn {
  const events: JsonObject[] = [];
  const emit = (event: JsonObject): void => {
    events.push(event);
  };
  emit({ type: "RUN_STARTED", threadId, runId, ...started });
  return {
    threadId,
    runId,
    events,
    emit,
    say(text, role = "assistant") {
      const messageId = randomUUID();
      emit({ type: "TEXT_MESSAGE_START", messageId, role });
      for (const delta of pieces(text)) emit({ type: "TEXT_MESSAGE_CONTENT", messageId, delta });
      emit({ type: "TEXT_MESSAGE_END", messageId });
    },
    call(toolCallName, args, id) {
      const toolCallId = id ?? randomUUID();
      emit({ type: "TOOL_CALL_START", toolCallId, toolCallName });
      for (const delta of pieces(JSON.stringify(args))) {
        emit({ type: "TOOL_CALL_ARGS", toolCallId, delta });
      }
      emit({ type: "TOOL_CALL_END", toolCallId });
      return toolCallId;
    },
    result(toolCallId, content) {
      emit({
        type: "TOOL_CALL_RESULT",
        messageId: randomUUID(),
        toolCallId,
        content,
        role: "tool",
      });
    },
    finish(more = {}) {
      emit({ type: "RUN_FINISHED", threadId, runId, ...more });
    },
  };
}

/** The end of a run that waits for a person's yes. */
export function interruptOutcome(interrupt: JsonObject): JsonObject {
  return { outcome: { type: "interrupt", interrupts: [interrupt] } };
}
