import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { Hold } from "../pipeline/hold.js";
import type { Passage, Step, StreamEnd } from "../pipeline/passage.js";

/** Asks that so many events of limited tokens be at hand; a promise where that takes a question. */
export type Reserve = (
  presented: JsonValue | undefined,
  events: number,
) => Promise<void> | undefined;

/**
 * Keeps events back while the budget of a token they may need is asked for; a decision itself never waits.
 *
 * What comes behind waits too, so that the order stays. Where nothing is asked for, nothing is kept.
 */
export class BudgetGate implements Step {
  readonly #next: Step;
  readonly #reserve: Reserve;
  readonly #hold: Hold;
  #kept: Passage[] = [];

  constructor(next: Step, reserve: Reserve, hold: Hold) {
    this.#next = next;
    this.#reserve = reserve;
    this.#hold = hold;
    hold.resume = () => this.#resume();
  }

  push(passage: Passage): void {
    if (this.#kept.length > 0) this.#kept.push(passage);
    else if (this.#mustKeep(passage)) this.#kept = [passage];
    else this.#next.push(passage);
  }

  /** Nobody waits any longer: what is not at hand is refused. */
  end(end: StreamEnd): void {
    const kept = this.#kept;
    this.#kept = [];
    for (const passage of kept) this.#next.push(passage);
    this.#next.end(end);
  }

  #resume(): void {
    const kept = this.#kept;
    this.#kept = [];
    kept.forEach((passage) => this.push(passage));
  }

  #mustKeep({ event, claim, supplied }: Passage): boolean {
    if (event === undefined || supplied) return false;
    const until = this.#reserve(claim?.capability, decisionsOf(event));
    if (until === undefined) return false;
    this.#hold.set(until);
    return true;
  }
}

/** How many decisions an event may take: each message and call of a list is one of its own. */
function decisionsOf(event: AgUiEvent): number {
  if (event.type === "MESSAGES_SNAPSHOT") return 1 + partsOf(event.messages);
  if (event.type === "RUN_STARTED" && event.input !== undefined) {
    return 1 + partsOf(event.input.messages);
  }
  return 1;
}

function partsOf(messages: readonly Message[]): number {
  let parts = messages.length;
  for (const message of messages) {
    if (message.role === "assistant") parts += message.toolCalls?.length ?? 0;
  }
  return parts;
}
