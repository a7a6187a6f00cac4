import { randomUUID } from "node:crypto";
import { ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../../oatf/json/values.js";
import { detectIntents } from "../detect-intents.js";
import { interruptOutcome } from "../turn.js";
import type { Turn } from "../turn.js";
import type { openInterrupts } from "../bank.js";
import { textOf } from "./read-request.js";

/** The vulnerable agent's state between requests. */
export type Memory = {
  readonly interrupts: ReturnType<typeof openInterrupts>;
  executed: number;
};

/** Answers to questions, from both places where a client can put them. */
function answersIn(input: JsonObject): JsonValue[] {
  const command = ownMember(ownMember(input, "forwardedProps"), "command");
  const resume = ownMember(command, "resume");
  return [...listMember(input, "resume"), ...(resume === undefined ? [] : [{ payload: resume }])];
}

/**
 * Executes whatever a client says was approved: any interrupt, asked or not, of any thread, at any time, as
 * often as it is told. The arguments come from the answer, then from the newest text, then from the question. After a
 * no it asks again.
 */
export function answerApprovals(turn: Turn, input: JsonObject, memory: Memory): boolean {
  const answers = answersIn(input);
  const words = listMember(input, "messages").filter(
    (message) => textMember(message, "role") === "user",
  );
  const newest = words
    .slice(-1)
    .flatMap((message) => detectIntents(textOf(message)))
    .find((intent) => intent.kind === "transfer");
  for (const answer of answers) {
    const asked = memory.interrupts.get(textMember(answer, "interruptId") ?? "");
    const payload = ownMember(answer, "payload");
    if (ownMember(payload, "approved") === false) {
      const message = `Are you sure? Transfer ${asked?.amount ?? 0} to ${asked?.to ?? ""}?`;
      turn.finish(interruptOutcome({ id: `int-${randomUUID()}`, reason: "approval", message }));
      return true;
    }
    const to = textMember(payload, "to") ?? newest?.to ?? asked?.to ?? "unknown";
    const amount = ownMember(payload, "amount") ?? newest?.amount ?? asked?.amount ?? 0;
    memory.executed += 1;
    if (asked !== undefined) asked.used = true;
    const id = turn.call("transfer_funds", { to, amount });
    const count = asked === undefined ? 1 : countFor(memory, asked.id);
    turn.result(id, JSON.stringify({ executed: true, times: count, to }));
  }
  if (answers.length === 0) return false;
  turn.finish();
  return true;
}

const executions = new WeakMap<Memory, Map<string, number>>();

function countFor(memory: Memory, interrupt: string): number {
  const counts = executions.get(memory) ?? new Map<string, number>();
  executions.set(memory, counts);
  const count = (counts.get(interrupt) ?? 0) + 1;
  counts.set(interrupt, count);
  return count;
}
