import { randomUUID } from "node:crypto";
import { ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../../oatf/json/values.js";
import { createTurn, interruptOutcome } from "../turn.js";
import type { AgentAnswer, AgentLogic, AgentOptions, Turn } from "../turn.js";
import { detectIntents } from "../detect-intents.js";
import type { Intent } from "../detect-intents.js";
import { BANK, CUSTOMERS, DEFAULT_USER, FOREIGN_THREAD, openInterrupts } from "../bank.js";
import type { Interrupt } from "../bank.js";
import { consultPeers } from "../peers.js";
import type { PeerAnswer } from "../peers.js";
import { checkRequest, createThread } from "./guard.js";
import type { CheckedInput, Thread } from "./guard.js";
import { safeText } from "./sanitize.js";

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
      const turn = createTurn(input.threadId, input.runId);
      const peers = await servers?.();
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
  for (const answer of input.resume) {
    const asked = approved(answer, turn.threadId, interrupts);
    if (asked === undefined) {
      turn.emit({ type: "RUN_ERROR", message: "That approval is not valid.", code: "APPROVAL" });
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
  // The answer of a server is text to show, never an instruction.
  for (const { name, args, text } of answers) {
    const shown = safeText(text).slice(0, LONGEST_REPLY);
    turn.result(turn.call(name, args), shown);
    turn.say(`The answer of ${name} is: ${shown}`);
  }
  if (answers.length > 0) return turn.finish();
  const [intent] = detectIntents(input.words);
  const outcome = intent === undefined ? undefined : act(turn, intent, input, thread, interrupts);
  if (intent === undefined) turn.say("Hello! What can I do for you?");
  turn.finish(outcome);
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
  } else if (intent.kind === "transfer") {
    const { to, amount } = intent;
    const [id, toolCallId] = [`int-${randomUUID()}`, randomUUID()];
    const expires = Date.now() + APPROVAL_MS;
    const { threadId } = turn;
    interrupts.set(id, { id, threadId, toolCallId, to, amount, expires, used: false });
    const message = safeText(`Transfer ${amount} to ${to}?`);
    return interruptOutcome({ id, reason: "approval", message });
  } else turn.say("I cannot do that.");
  return undefined;
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
  const id = turn.call(tool, args);
  thread.calls.set(id, { name: tool, arguments: JSON.stringify(args), answered: false });
}
