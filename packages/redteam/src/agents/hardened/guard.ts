import type { IncomingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { isCountersignError, isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../../oatf/json/values.js";
import type { AgentRequest } from "../turn.js";
import { PAGE_TOOLS } from "../bank.js";
import { proxiedParts, readPageRequest } from "../cards.js";
import type { CardAction } from "../cards.js";
import { visibleText } from "./sanitize.js";

/** The hardened agent's own state of a thread. A client can add to it, never rewrite it. */
export type Thread = {
  readonly owner: string;
  readonly runs: Set<string>;
  /** Calls it made to the page, by id: name and arguments; `answered` at most once. */
  readonly calls: Map<
    string,
    { readonly name: string; readonly arguments: string; answered: boolean }
  >;
  wrongPins: number;
  refunded: number;
  /** Buttons that it drew and that were not pressed yet. */
  actions: CardAction[];
  /** Applications of tool servers that it showed: server and resource. */
  readonly apps: Set<string>;
};

/** Creates the state of an unused thread. */
export function createThread(owner: string): Thread {
  return {
    owner,
    runs: new Set(),
    calls: new Map(),
    wrongPins: 0,
    refunded: 0,
    actions: [],
    apps: new Set(),
  };
}

/** Why a request is not answered. */
export type Rejection = { readonly status: number; readonly code: string };

/** A request after every check: the user's words, and answers to questions that were asked. */
export type CheckedInput = {
  readonly threadId: string;
  readonly runId: string;
  readonly words: string;
  /** A tool of the page has answered, so the words were dealt with before. */
  readonly isFollowUp: boolean;
  readonly tools: ReadonlySet<string>;
  readonly resume: readonly JsonValue[];
  /** The button that the user pressed. */
  readonly pressed?: CardAction;
  /** The resource of an application that the page asks for. */
  readonly resource?: { readonly server: string; readonly uri: string };
};

const INPUT_KEYS = new Set([
  "threadId",
  "runId",
  "parentRunId",
  "protocolVersion",
  "messages",
  "state",
  "tools",
  "context",
  "forwardedProps",
  "resume",
]);
const MESSAGE_KEYS = new Set(["id", "role", "content", "name", "toolCalls", "toolCallId"]);
const OWN_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|northwind\.example)(?::\d+)?$/;

class Rejected extends Error {
  constructor(readonly rejection: Rejection) {
    super(rejection.code);
  }
}

function refuse(code: string, status = 400): never {
  throw new Rejected({ status, code });
}

/** Checks a request against the thread it belongs to; everything that is not known to be right is refused. */
export function checkRequest(
  request: AgentRequest,
  threadOf: (id: string) => Thread,
  user: string,
): CheckedInput | Rejection {
  try {
    checkHeaders(request.headers);
    const input = parseJson(request.body);
    if (!isJsonObject(input)) refuse("NOT_AN_INPUT");
    return checkInput(input, threadOf, user);
  } catch (error) {
    if (error instanceof Rejected) return error.rejection;
    if (isCountersignError(error)) return { status: 400, code: error.code };
    throw error;
  }
}

/** A page of another site can send what needs no preflight; JSON from our own origin is not that. */
function checkHeaders(headers: IncomingHttpHeaders): void {
  if (!/^application\/json\b/.test(headers["content-type"] ?? "")) refuse("CONTENT_TYPE", 415);
  const { origin } = headers;
  if (origin !== undefined && !OWN_ORIGIN.test(origin)) refuse("ORIGIN", 403);
}

function checkInput(
  input: JsonObject,
  threadOf: (id: string) => Thread,
  user: string,
): CheckedInput {
  if (Object.keys(input).some((key) => !INPUT_KEYS.has(key))) refuse("UNKNOWN_FIELD");
  const threadId = textMember(input, "threadId") ?? refuse("NO_THREAD");
  const runId = textMember(input, "runId") ?? refuse("NO_RUN");
  const thread = threadOf(threadId);
  if (thread.owner !== user) refuse("FOREIGN_THREAD", 403);
  if (thread.runs.has(runId)) refuse("RUN_REUSED", 409);
  const state = ownMember(input, "state") ?? {};
  if (!isJsonObject(state) || Object.keys(state).length > 0) refuse("NO_STATE");
  const asked = checkProps(ownMember(input, "forwardedProps") ?? {}, thread);
  const tools = listMember(input, "tools");
  for (const tool of tools) {
    const description = PAGE_TOOLS.get(textMember(tool, "name") ?? "");
    if (description === undefined || description !== textMember(tool, "description")) {
      refuse("UNKNOWN_TOOL");
    }
  }
  const messages = listMember(input, "messages");
  const texts = messages.map((message) => checkMessage(message, thread));
  const names = tools.map((tool) => textMember(tool, "name") ?? "");
  const isFollowUp = textMember(messages.at(-1), "role") === "tool";
  if (isFollowUp) markAnswered(messages, thread);
  // Only now: a request that was refused has used nothing up.
  thread.runs.add(runId);
  const words = texts.findLast((text) => text !== undefined) ?? "";
  const resume = listMember(input, "resume");
  const { pressed } = asked;
  if (pressed !== undefined) {
    thread.actions = thread.actions.filter((action) => action !== pressed);
  }
  return { threadId, runId, words, isFollowUp, tools: new Set(names), resume, ...asked };
}

/** A page says two things here: a button that this thread has was pressed, or it needs an application that it was shown. */
function checkProps(
  props: JsonValue,
  { actions, apps }: Thread,
): Pick<CheckedInput, "pressed" | "resource"> {
  if (!isJsonObject(props)) refuse("NO_FORWARDEDPROPS");
  const known = new Set(["a2uiAction", "__proxiedMCPRequest"]);
  if (Object.keys(props).some((key) => !known.has(key))) refuse("NO_FORWARDEDPROPS");
  const { click, proxied } = readPageRequest(props);
  if (proxied !== undefined) {
    const { server, method, params } = proxiedParts(proxied);
    const uri = textMember(params, "uri") ?? "";
    if (method !== "resources/read" || !apps.has(`${server} ${uri}`)) refuse("NOT_SHOWN", 403);
    return { resource: { server, uri } };
  }
  if (click === undefined) return {};
  const pressed = actions.find(
    ({ surfaceId, componentId, name, context }) =>
      surfaceId === textMember(click, "surfaceId") &&
      componentId === textMember(click, "sourceComponentId") &&
      name === textMember(click, "name") &&
      isDeepStrictEqual(context, ownMember(click, "context")),
  );
  return { pressed: pressed ?? refuse("NOT_SHOWN", 403) };
}

/** The visible text of a user message, `undefined` for messages of this agent that the ledger confirms. */
function checkMessage(message: JsonValue, thread: Thread): string | undefined {
  if (!isJsonObject(message)) refuse("NOT_A_MESSAGE");
  if (Object.keys(message).some((key) => !MESSAGE_KEYS.has(key))) refuse("UNKNOWN_FIELD");
  const content = ownMember(message, "content");
  const role = textMember(message, "role");
  if (role === "user") {
    if (typeof content === "string") return visibleText(content);
    const parts = Array.isArray(content) ? content : refuse("CONTENT");
    if (parts.some((part) => textMember(part, "type") !== "text")) refuse("CONTENT_PART");
    return visibleText(parts.map((part) => textMember(part, "text") ?? "").join("\n"));
  }
  if (role === "tool") {
    const call = thread.calls.get(textMember(message, "toolCallId") ?? "");
    if (call === undefined || call.answered) refuse("NOT_PENDING");
    return undefined;
  }
  if (role !== "assistant" || content !== undefined) refuse("FORGED_HISTORY");
  for (const call of listMember(message, "toolCalls")) {
    const known = thread.calls.get(textMember(call, "id") ?? "");
    const made = ownMember(call, "function");
    if (
      known?.name !== textMember(made, "name") ||
      known?.arguments !== textMember(made, "arguments")
    ) {
      refuse("FORGED_CALL");
    }
  }
  return undefined;
}

function markAnswered(messages: readonly JsonValue[], thread: Thread): void {
  for (const message of messages) {
    const call = thread.calls.get(textMember(message, "toolCallId") ?? "");
    if (call !== undefined) call.answered = true;
  }
}
