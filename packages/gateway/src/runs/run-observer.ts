import { isRepair } from "@countersign/wire/dialects";
import type { DialectNote } from "@countersign/wire/dialects";
import type { EnforceNote } from "@countersign/wire/enforce";
import { feedItemOf } from "../telemetry/feed-item.js";
import { STOPPED } from "../outbound/deliver/run-error.js";
import type { Observer, Run } from "../event/run.js";
import type { EventContext } from "../event/event-context.js";
import type { RunHandle, Session } from "../sessions/sessions.js";
import { countEvent } from "../telemetry/count-event.js";
import type { GatewayContext } from "./gateway-context.js";
import { runFacts } from "./run-watch.js";

/** Reports the events of one run to the feed, the session's counters and the journal. */
export class RunObserver implements Observer {
  readonly #context: GatewayContext;
  readonly #session: Session;
  readonly #handle: RunHandle;
  #run: Run | undefined;

  constructor(context: GatewayContext, session: Session, handle: RunHandle) {
    this.#context = context;
    this.#session = session;
    this.#handle = handle;
  }

  /** Sets the observed run. The run refers to its observer, so it is created after it. */
  watch(run: Run): void {
    this.#run = run;
  }

  notes(notes: readonly (EnforceNote | DialectNote)[]): void {
    const { agent } = this.#handle;
    this.#context.journal.debug(
      { ...runFacts(this.#session.id, this.#handle), notes: notes.length },
      "dropped or translated",
    );
    for (const note of notes) {
      if (!("rule" in note) || !isRepair(note.rule)) continue;
      this.#context.telemetry.repairs.add(agent, note.rule);
      addRule((this.#handle.repaired ??= []), note.rule);
    }
  }

  recorded(eventContext: EventContext): void {
    const { telemetry, feed } = this.#context;
    const blocked = eventContext.decision?.allow === false || eventContext.refused !== undefined;
    this.#session.counters[blocked ? "blocked" : "forwarded"] += 1;
    countEvent(telemetry, this.#handle.agent, eventContext);
    noteRules(this.#handle, eventContext);
    const item = this.#run && feedItemOf(this.#run, eventContext);
    if (item !== undefined) feed.publish(item);
  }

  delivered(_contexts: number, arrivedAt: number): void {
    this.#context.telemetry.addedLatency.observe((performance.now() - arrivedAt) / 1000);
  }

  failed(code: string, cause: unknown, blocked?: EventContext): void {
    if (code === STOPPED.code) return;
    const { telemetry, journal } = this.#context;
    const handle = this.#handle;
    if (handle.status === "running") handle.status = "failed";
    handle.failure ??= code;
    telemetry.runFailures.add(code);
    const why = blocked === undefined ? { cause: codeOf(cause) } : ruleOf(blocked);
    journal.warn(
      { ...runFacts(this.#session.id, handle), code, ...why, ...handle.trace },
      "run failed",
    );
  }
}

/** The rule and the receipt by which an operator finds the decision that ended a run. */
function ruleOf({ decision, receiptId }: EventContext): { rule?: string; receipt?: string } {
  return {
    ...(decision?.allow === false ? { rule: decision.rule } : {}),
    ...(receiptId === undefined ? {} : { receipt: receiptId }),
  };
}

/** Rules in the log line at the end of a run: an agent must not be able to make it long. */
const MAX_RULES_NAMED = 8;

function noteRules(handle: RunHandle, { decision }: EventContext): void {
  if (decision?.allow === false) addRule((handle.blockedBy ??= []), decision.rule);
  else if (decision?.observed !== undefined) {
    const rules = (handle.wouldBlockBy ??= []);
    addRule(rules, decision.observed.rule);
    for (const rule of decision.further ?? []) addRule(rules, rule);
  }
}

function addRule(rules: string[], rule: string): void {
  if (rules.length < MAX_RULES_NAMED && !rules.includes(rule)) rules.push(rule);
}

/** The code of an error; its message could contain anything. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
}
