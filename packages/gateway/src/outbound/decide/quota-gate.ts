import { EVENT_TABLE } from "@countersign/wire";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { Pause } from "../../event/waits.js";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Step, StreamEnd } from "../../event/stage.js";
import { listOf } from "../../event/unit.js";
import type { Reservations, Reserve, SharedCaps } from "../../event/run.js";

/**
 * Keeps events while the gateway reserves the budget of a token, or room under a shared cap, that they may need. The decision itself never
 * waits.
 *
 * Later events wait too, so that the order stays. If nothing needs a reservation, no event waits.
 */
export class QuotaGate extends PassingStep {
  readonly #reserve: Reserve;
  readonly #caps: SharedCaps | undefined;
  readonly #pause: Pause;
  #kept: EventContext[] = [];

  constructor(next: Step, { reserve, caps }: Reservations, pause: Pause) {
    super(next);
    this.#reserve = reserve;
    this.#caps = caps;
    this.#pause = pause;
  }

  push(context: EventContext): void {
    if (this.#kept.length > 0) this.#kept.push(context);
    else if (this.#mustKeep(context)) this.#kept = [context];
    else this.#pass(context);
  }

  /** The stream ended, so the gate stops waiting: an event without a reservation is denied. */
  override end(end: StreamEnd): void {
    const kept = this.#kept;
    this.#kept = [];
    for (const context of kept) this.#pass(context);
    this.next.end(end);
  }

  override proceed(): void {
    const kept = this.#kept;
    this.#kept = [];
    kept.forEach((context) => this.push(context));
  }

  #pass(context: EventContext): void {
    this.next.push(context);
    // Most caps counted few of the events in a list.
    if (this.#caps !== undefined && context.event && listOf(context.event)) this.#caps.release();
  }

  #mustKeep({ event, facts, claim, isSynthetic }: EventContext): boolean {
    if (event === undefined || isSynthetic) return false;
    const list = listOf(event);
    const decisions = list === undefined ? 1 : 1 + partsOf(list);
    const budget = this.#reserve(claim?.capability, decisions);
    const room =
      this.#caps === undefined || !countsAnew(event)
        ? undefined
        : this.#caps.reserve(list === undefined ? facts : undefined, decisions);
    const until = room === undefined ? budget : Promise.all([budget, room]).then(() => undefined);
    if (until === undefined) return false;
    this.#pause.set(until);
    return true;
  }
}

/** An event within a unit was counted with the unit, but a call that was held for its arguments is judged at its end. */
function countsAnew({ type }: AgUiEvent): boolean {
  const { phase } = EVENT_TABLE[type];
  return (phase !== "continue" && phase !== "close") || type === "TOOL_CALL_END";
}

/** The decisions that the parts of a list can need: each message and call is one. */
function partsOf(messages: readonly Message[]): number {
  let parts = messages.length;
  for (const message of messages) {
    if (message.role === "reasoning") parts += 1;
    if (message.role !== "assistant") continue;
    // The start, the text and each call are judged.
    parts += (message.content === undefined ? 0 : 1) + (message.toolCalls?.length ?? 0);
  }
  return parts;
}
