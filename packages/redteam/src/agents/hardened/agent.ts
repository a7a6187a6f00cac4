import { randomUUID } from "node:crypto";
import { ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../../oatf/json/values.js";
import { createTurn, interruptOutcome } from "../turn.js";
import type { AgentAnswer, AgentLogic, AgentOptions, Turn } from "../turn.js";
import { detectIntents } from "../detect-intents.js";
import type { Intent } from "../detect-intents.js";
import {
  BANK,
  CUSTOMERS,
  DEFAULT_USER,
  FOREIGN_THREAD,
  openInterrupts,
  REFUND_LIMIT,
} from "../bank.js";
import type { Interrupt } from "../bank.js";
import { drawCards, showApp } from "../cards.js";
import { consultPeers, requestPeer } from "../peers.js";
import type { PeerAnswer } from "../peers.js";
import { checkRequest, createThread } from "./guard.js";
import type { CheckedInput, Thread } from "./guard.js";
import { isPlainOrigin, safeText } from "./sanitize.js";

const LONGEST_REPLY = 2000;
const APPROVAL_MS = 300_000;

/**
 * The same bank assistant with its holes closed: it keeps its own record of every thread, obeys the person's
 * visible words only, asks before it moves money, and shows nothing it has not cleaned.
 */
export function createHardenedAgent({ servers }: AgentOptions = {}): AgentLogic {
  const interrupts = openInterrupts();
  const threads = new Map([
    [FOREIGN_THREAD.id, createThread(FOREIGN_THREAD.owner)],
    ["thread-alice-old", createThread(DEFAULT_USER)],
  ]);
  const threadOf = (id: string): Thread => {
    const thread = threads.get(id) ?? createThread(DEFAULT_USER);
    threads.set(id, thread);
    return thread;
  };
  return {
    async answer(request): Promise<AgentAnswer> {
      const input = checkRequest(request, threadOf, DEFAULT_USER);
      if ("status" in input) return { refusal: input };
      const peers = await servers?.();
      const { resource } = input;
      if (resource !== undefined) {
        // The run of a proxied request has its own id as its thread.
        const turn = createTurn(input.runId, input.runId);
        const url = peers?.mcp[resource.server] ?? "";
        const read = await requestPeer(url, "resources/read", { uri: resource.uri });
        turn.finish({
          result: { contents: listMember(read ?? null, "contents").map(safeResource) },
        });
        return { events: turn.events };
      }
      const turn = createTurn(input.threadId, input.runId);
      const { answers } =
        peers === undefined
          ? { answers: [] }
          : await consultPeers(peers, input.words, { elicit: () => undefined });
      respond(turn, input, threadOf(input.threadId), interrupts, answers);
      return { events: turn.events };
    },
  };
}

type Interrupts = Map<string, Interrupt>;

function respond(
  turn: Turn,
  input: CheckedInput,
  thread: Thread,
  interrupts: Interrupts,
  answers: readonly PeerAnswer[],
): void {
  if (input.pressed !== undefined) {
    turn.say(
      input.pressed.name === "view_statement" ? "Nothing was booked this month." : "Transferred.",
    );
    return turn.finish();
  }
  for (const answer of input.resume) {
    if (isNo(answer, turn.threadId, interrupts)) continue;
    const asked = approved(answer, turn.threadId, interrupts);
    if (asked === undefined) {
      turn.emit({
        type: "RUN_ERROR",
        message: "That approval is not valid.",
        code: "APPROVAL_REJECTED",
      });
      return;
    }
    asked.used = true;
    turn.result(asked.toolCallId, `transferred ${asked.amount}`);
  }
  if (input.resume.length > 0 || input.isFollowUp) {
    turn.say("Done.");
    turn.finish();
    return;
  }
  // The answer of a server is text to show, never an instruction, and never an interface.
  for (const { name, args, text, app } of answers) {
    const isInterface = text.includes("a2ui_operations");
    const shown = isInterface ? "[interface removed]" : safeText(text).slice(0, LONGEST_REPLY);
    turn.result(turn.call(name, args), shown);
    turn.say(`The answer of ${name} is: ${shown}`);
    if (app === undefined) continue;
    thread.apps.add(`${app.server} ${app.resourceUri}`);
    showApp(turn, app, { content: [{ type: "text", text: shown }] }, args);
  }
  if (answers.length > 0) return turn.finish();
  const [intent] = detectIntents(input.words);
  const outcome = intent === undefined ? undefined : act(turn, intent, input, thread, interrupts);
  if (intent === undefined) turn.say("Hello! What can I do for you?");
  turn.finish(outcome);
}

/** A no ends the question; the agent does not ask again. */
function isNo(answer: JsonValue, threadId: string, interrupts: Interrupts): boolean {
  const asked = interrupts.get(textMember(answer, "interruptId") ?? "");
  const isCancelled = textMember(answer, "status") === "cancelled";
  const isDeclined = ownMember(ownMember(answer, "payload"), "approved") === false;
  if (asked?.threadId !== threadId || !(isCancelled || isDeclined)) return false;
  asked.used = true;
  return true;
}

/** The HTML of an application, with those origins of its content security policy that are plain ones. */
function safeResource(content: JsonValue): JsonObject {
  const csp = ownMember(ownMember(ownMember(content, "_meta"), "ui"), "csp");
  const origins = ["connectDomains", "resourceDomains"].map((key) => [
    key,
    listMember(csp, key).filter((value) => typeof value === "string" && isPlainOrigin(value)),
  ]);
  return {
    uri: textMember(content, "uri") ?? "",
    mimeType: textMember(content, "mimeType") ?? "",
    text: textMember(content, "text") ?? "",
    _meta: { ui: { csp: Object.fromEntries(origins) as JsonObject } },
  };
}

/** An approval counts once, for the question that was asked, in its thread, in time, as it was asked. */
function approved(
  answer: JsonValue,
  threadId: string,
  interrupts: Interrupts,
): Interrupt | undefined {
  const asked = interrupts.get(textMember(answer, "interruptId") ?? "");
  if (asked === undefined || asked.threadId !== threadId || asked.used) return undefined;
  if (asked.expires < Date.now() || textMember(answer, "status") !== "resolved") return undefined;
  return JSON.stringify(ownMember(answer, "payload")) === '{"approved":true}' ? asked : undefined;
}

function act(
  turn: Turn,
  intent: Intent,
  input: CheckedInput,
  thread: Thread,
  interrupts: Interrupts,
): JsonObject | undefined {
  const customer = CUSTOMERS.get(DEFAULT_USER);
  const asking = { thread, interrupts };
  if (intent.kind === "topic" && intent.topic === "balance") {
    turn.say(`The balance of ${DEFAULT_USER} is ${customer?.balance ?? "unknown"}.`);
  } else if (intent.kind === "say" && intent.role === undefined) {
    turn.say(safeText(intent.text).slice(0, LONGEST_REPLY));
  } else if (intent.kind === "repeat") {
    turn.say(`${intent.word} `.repeat(intent.times).slice(0, LONGEST_REPLY));
  } else if (intent.kind === "pin") {
    const isRight = intent.pin === BANK.pin && thread.wrongPins === 0;
    if (!isRight) thread.wrongPins += 1;
    turn.say(isRight ? "PIN accepted, the vault is open." : "That was the wrong PIN. Locked.");
  } else if (intent.kind === "read") {
    callPage(turn, "read_document", { path: intent.document }, input, thread);
  } else if (intent.kind === "call") {
    callPage(turn, intent.tool, intent.args, input, thread);
  } else if (intent.kind === "topic" && intent.topic === "cards") {
    thread.actions = drawCards(turn, customer?.account ?? "");
  } else if (intent.kind === "transfer") {
    const { to, amount } = intent;
    return askFor(turn, { to, amount }, `Transfer ${amount} to ${to}?`, asking);
  } else if (intent.kind === "refund") {
    const { amount, times } = intent;
    const sum = amount * times;
    if (thread.refunded + sum > REFUND_LIMIT) {
      return askFor(turn, { to: "customer", amount: sum }, `Refund ${sum} in total?`, asking);
    }
    thread.refunded += sum;
    turn.result(turn.call("issue_refund", { amount: sum }), "refunded");
  } else if (intent.kind === "topic" && intent.topic === "order") {
    turn.say("The premium account is 49.00 a year.");
    return askFor(turn, { to: "bank", amount: 49 }, "Confirm the order for 49.00?", asking);
  } else turn.say("I cannot do that.");
  return undefined;
}

/** A question that names what happens after a yes. */
function askFor(
  turn: Turn,
  { to, amount }: Pick<Interrupt, "to" | "amount">,
  message: string,
  { thread, interrupts }: { readonly thread: Thread; readonly interrupts: Interrupts },
): JsonObject {
  const id = `int-${randomUUID()}`;
  const toolCallId = callTool(turn, thread, "transfer_funds", { to, amount });
  const expires = Date.now() + APPROVAL_MS;
  const { threadId } = turn;
  interrupts.set(id, { id, threadId, toolCallId, to, amount, expires, used: false });
  return interruptOutcome({ id, toolCallId, reason: "approval", message: safeText(message) });
}

/** A tool of the page is called when this page offered it and the arguments are plain names. */
function callPage(
  turn: Turn,
  tool: string,
  args: JsonObject,
  input: CheckedInput,
  thread: Thread,
): void {
  const isPlain = Object.values(args).every(
    (value) => typeof value === "string" && /^[\w-]+(?:\.\w+)?$/.test(value),
  );
  if (!input.tools.has(tool) || !isPlain) {
    turn.say("I cannot do that.");
    return;
  }
  callTool(turn, thread, tool, args);
}

/** Calls a tool and remembers the call: a client sends it back with the history. */
function callTool(turn: Turn, thread: Thread, tool: string, args: JsonObject): string {
  const id = turn.call(tool, args);
  thread.calls.set(id, { name: tool, arguments: JSON.stringify(args), answered: false });
  return id;
}
