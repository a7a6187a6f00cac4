import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../../oatf/json/values.js";
import type { AgentLogic, AgentOptions, AgentRequest, Turn } from "../turn.js";
import { createTurn } from "../turn.js";
import { detectIntents } from "../detect-intents.js";
import type { Intent } from "../detect-intents.js";
import {
  BANK,
  DEFAULT_USER,
  FILES,
  FOREIGN_THREAD,
  openInterrupts,
  PRIVILEGED_TOOLS,
} from "../bank.js";
import { drawSurface, operationsIn, proxiedParts, readPageRequest, showApp } from "../cards.js";
import { consultPeers, requestPeer } from "../peers.js";
import type { PeerAddresses, PeerAnswer, PeerTexts } from "../peers.js";
import { answerApprovals } from "./approvals.js";
import type { Memory } from "./approvals.js";
import { executeIntent } from "./execute-intent.js";
import { untrustedTexts, readLeniently, textOf } from "./read-request.js";

/**
 * A bank assistant with every vulnerability of the attack library; AG-UI integrations have had each of them.
 * It trusts the request's history, obeys any text, and discloses its secrets. For demonstrations and tests on
 * the loopback interface only.
 */
export function createVulnerableAgent({ servers }: AgentOptions = {}): AgentLogic {
  const memory: Memory = { interrupts: openInterrupts(), executed: 0 };
  return {
    async answer(request) {
      const input = await readLeniently(request.body);
      const threadId = textMember(input, "threadId") ?? randomUUID();
      const runId = textMember(input, "runId") ?? randomUUID();
      const systemMessage = { id: "system", role: "system", content: BANK.systemPrompt };
      const messages = [systemMessage, ...listMember(input, "messages")];
      const turn = createTurn(threadId, runId, { input: { ...input, messages } });
      try {
        const addresses = await servers?.();
        const { proxied } = readPageRequest(ownMember(input, "forwardedProps"));
        if (proxied !== undefined) await forwardToServer(turn, proxied, addresses);
        else respond(turn, input, request, memory, await consult(turn, input, addresses));
      } catch (error) {
        const [first] = String((error as Error).stack).split("\n");
        const message = `${first}\n    at runTurn (/srv/agent/dist/turn.js:41:17)`;
        turn.emit({ type: "RUN_ERROR", message, code: "INTERNAL" });
      }
      return { events: turn.events };
    },
  };
}

/**
 * Asks the servers that the operator configured, and those that the request names. Questions of a server are shown to
 * the person as they are, and answered with what the agent knows.
 */
async function consult(
  turn: Turn,
  input: JsonObject,
  { mcp, a2a }: PeerAddresses = { mcp: {}, a2a: {} },
): Promise<PeerTexts> {
  const named = ownMember(ownMember(input, "forwardedProps"), "servers");
  const addresses = {
    mcp: { ...mcp, ...textsUnder(named, "mcp") },
    a2a: { ...a2a, ...textsUnder(named, "a2a") },
  };
  const words = listMember(input, "messages")
    .filter((message) => textMember(message, "role") === "user")
    .map(textOf);
  return consultPeers(addresses, words.at(-1) ?? "", {
    elicit({ message, fields }) {
      turn.say(message);
      return Object.fromEntries(fields.map((field) => [field, BANK.pin]));
    },
    sample: (prompt) => `${BANK.systemPrompt}\n${prompt}`,
  });
}

function textsUnder(value: JsonValue | undefined, key: string): Record<string, string> {
  const found = ownMember(value, key);
  const entries = isJsonObject(found) ? Object.entries(found) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function respond(
  turn: Turn,
  input: JsonObject,
  request: AgentRequest,
  memory: Memory,
  peers: PeerTexts,
): void {
  const messages = listMember(input, "messages");
  const user = userOf(input, request);
  if (turn.runId === FOREIGN_THREAD.runId) {
    turn.say(FOREIGN_THREAD.text);
    turn.finish();
    return;
  }
  const spoken = messages.filter((message) => textMember(message, "role") === "user").map(textOf);
  const props = ownMember(input, "forwardedProps");
  if (obeyProps(turn, props, memory)) return;
  if (answerApprovals(turn, input, memory)) return;
  if (executeTrailingCall(turn, messages, memory)) return;
  describeParts(turn, messages);
  const isAdmin = textMember(ownMember(ownMember(input, "state"), "user"), "role") === "admin";
  const own = detectIntents(spoken.at(-1) ?? "").filter(
    (intent) => isAdmin || intent.kind !== "call" || !PRIVILEGED_TOOLS.has(intent.tool),
  );
  for (const answer of peers.answers) showAnswer(turn, answer);
  const others = [
    ...untrustedTexts(input),
    ...peers.presented,
    ...peers.answers.map(({ text }) => text),
  ]
    .flatMap(detectIntents)
    .filter(isOrder);
  const context = { user, input, memory };
  for (const intent of [...own, ...others]) {
    if (executeIntent(turn, intent, context) === "over") return;
  }
  if (own.length + others.length === 0) turn.say("Hello! What can I do for you?");
  turn.finish();
}

/** Shows the answer of a server as it is. One that is an interface is drawn, whichever tool it came from. */
function showAnswer(turn: Turn, { name, args, text, app, result = null }: PeerAnswer): void {
  turn.result(turn.call(name, args), text);
  const operations = operationsIn(text);
  if (operations === undefined) turn.say(text);
  else drawSurface(turn, name, operations);
  if (app !== undefined) showApp(turn, app, result, args);
}

const NOT_ORDERS: ReadonlySet<Intent["kind"]> = new Set(["topic", "pin", "transfer", "refund"]);

/** Texts that are not the user's are obeyed, not chatted with. */
function isOrder(intent: Intent): boolean {
  return !NOT_ORDERS.has(intent.kind);
}

function userOf(input: JsonObject, { headers }: AgentRequest): string {
  const claimed = textMember(ownMember(input, "forwardedProps"), "user_id");
  const inState = textMember(ownMember(ownMember(input, "state"), "headers"), "x-user-id");
  const header = headers["x-user-id"];
  return claimed ?? inState ?? (typeof header === "string" ? header : DEFAULT_USER);
}

/** Asks any tool server for anything, as its own client, because a page says so. */
async function forwardToServer(
  turn: Turn,
  request: JsonObject,
  addresses: PeerAddresses | undefined,
): Promise<void> {
  const { server, method, params } = proxiedParts(request);
  const url = addresses?.mcp[server];
  const customers = { content: [{ type: "text", text: "bob NW-9930-5521 88400.00" }] };
  const result = url === undefined ? customers : await requestPeer(url, method, params);
  turn.finish({ threadId: turn.runId, result: result ?? null });
}

/** Switches that only a trusted server should be able to set. */
function obeyProps(turn: Turn, props: JsonValue | undefined, memory: Memory): boolean {
  const model = textMember(props, "model");
  if (model !== undefined) turn.emit({ type: "CUSTOM", name: "model", value: { model } });
  const { click } = readPageRequest(props);
  if (click !== undefined) {
    const context = ownMember(click, "context");
    const id = turn.call(textMember(click, "name") ?? "", isJsonObject(context) ? context : {});
    turn.result(id, "executed");
    turn.finish();
    return true;
  }
  const stepName = textMember(props, "nodeName");
  if (stepName === undefined) return false;
  turn.emit({ type: "STEP_STARTED", stepName });
  memory.executed += 1;
  turn.result(turn.call("transfer_funds", { skippedNodes: ["approve"] }), "executed");
  turn.emit({ type: "STEP_FINISHED", stepName });
  turn.finish();
  return true;
}

/** A call at the end of the history is taken for the agent's own and executed without asking a model. */
function executeTrailingCall(turn: Turn, messages: readonly JsonValue[], memory: Memory): boolean {
  const last = messages.at(-1);
  const [call] = textMember(last, "role") === "assistant" ? listMember(last, "toolCalls") : [];
  const name = textMember(ownMember(call, "function"), "name");
  if (name === undefined) return false;
  memory.executed += 1;
  turn.result(textMember(call, "id") ?? "", `${name} executed`);
  turn.finish();
  return true;
}

/** Fetches what a part of a message points to, wherever that is. */
function describeParts(turn: Turn, messages: readonly JsonValue[]): void {
  for (const message of messages) {
    for (const part of listMember(message, "content")) {
      const source = ownMember(part, "source");
      const value = textMember(source, "value") ?? "";
      if (textMember(source, "type") === "file") turn.say(FILES.get(value) ?? "");
      else if (value.includes("169.254.169.254")) turn.say(`I see: ${BANK.metadataCredential}`);
    }
  }
}
