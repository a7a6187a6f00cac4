import type { AgUiEvent } from "@countersign/wire";
import { shownForms } from "../deliver/client-stream.js";
import { failureOf } from "../deliver/run-error.js";
import type { Failure } from "../deliver/run-error.js";
import type { EventContext } from "../../event/event-context.js";
import { PassingStep } from "../../event/stage.js";
import type { Stage, Step, StreamEnd } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { draftOf } from "./draft.js";
import type { Recorded } from "../../event/recorder.js";

/** The client receives this if a receipt could not be made durable. */
export const UNRECORDED: Failure = {
  code: "RECEIPTS_UNAVAILABLE",
  message: "the gateway could not record the decision",
};

/** The number of events in one append to the log; the log signs as many with one message. */
const MAX_GROUP = 128;

/** Events that arrived together: they are recorded with one append and delivered in one write. */
class Group {
  readonly contexts: readonly EventContext[];
  readonly arrivedAt: number;
  isDurable = false;

  constructor(contexts: readonly EventContext[], arrivedAt: number) {
    this.contexts = contexts;
    this.arrivedAt = arrivedAt;
  }

  /** The events that need a receipt: all but synthetic ones. */
  get signed(): readonly EventContext[] {
    const { contexts } = this;
    return contexts.some(isSynthetic) ? contexts.filter((one) => !one.isSynthetic) : contexts;
  }

  /** Stores the place of each event in the log. */
  settle(recorded: readonly Recorded[]): void {
    this.signed.forEach((context, index) => {
      const { id, seq } = recorded[index] as Recorded;
      context.receiptId = id;
      context.seq = seq;
    });
    this.isDurable = true;
  }
}

function isSynthetic(context: EventContext): boolean {
  return context.isSynthetic;
}

/** Records every decision, and forwards no event before its receipt is durable, in the order of arrival. */
export const record: Stage = {
  name: "record",
  open: (run, next) => new RecordStep(run, next),
};

class RecordStep extends PassingStep {
  readonly #run: Run;
  /** Groups that the log is writing, in order. */
  readonly #waiting: Group[] = [];
  #gathered: EventContext[] = [];
  #size = 0;
  #ending: StreamEnd | undefined;
  #isDead = false;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
  }

  push(context: EventContext): void {
    if (this.#isDead) return;
    // A push into an empty array would allocate sixteen elements for every event.
    if (this.#gathered.length === 0) this.#gathered = [context];
    else this.#gathered.push(context);
    this.#size += 1;
    // The log may start with these while the stage still judges the rest.
    if (this.#gathered.length >= MAX_GROUP) this.flush(performance.now());
  }

  override flush(arrivedAt: number): void {
    if (this.#isDead || this.#gathered.length === 0) return;
    const run = this.#run;
    const group = new Group(this.#gathered, arrivedAt);
    this.#gathered = [];
    this.#waiting.push(group);
    run.backlog.set(this.#size);
    // Any error before log and ledger confirm means that nothing is delivered; the receipt may exist.
    try {
      const { signed } = group;
      const drafts =
        run.receipts === undefined
          ? signed.map((context) => draftOf(run, context))
          : run.receipts.draftsOf(run, signed);
      const appended = run.recorder.appendAll(drafts);
      const followed = callBeforeDelivery(run, group.contexts);
      const durable =
        followed === undefined
          ? appended
          : // Both run at once, and a failure of either is a failure of the group.
            Promise.all([appended, followed]).then(([recorded]) => recorded);
      durable.then(
        (recorded) => this.#settle(group, recorded),
        (error: unknown) => this.#fail(error, UNRECORDED),
      );
    } catch (error) {
      this.#fail(error, UNRECORDED);
    }
  }

  #settle(group: Group, recorded: readonly Recorded[]): void {
    try {
      const { receipts } = this.#run;
      group.settle(receipts === undefined ? recorded : receipts.keep(group.signed, recorded));
    } catch (error) {
      // A log that returns fewer receipts than entries has not recorded all of them.
      this.#fail(error, UNRECORDED);
    }
    if (!this.#isDead) this.#deliverRecorded();
  }

  override end(end: StreamEnd): void {
    if (this.#isDead) return;
    this.flush(performance.now());
    this.#ending = end;
    this.#deliverRecorded();
  }

  override fail(failure: Failure): void {
    this.end({ failure });
  }

  /**
   * Delivers the recorded groups. An event that cannot be delivered ends its own run only: no caller awaits this, so a throw would end the
   * process.
   */
  #deliverRecorded(): void {
    try {
      this.#deliver();
    } catch (error) {
      this.#fail(error, failureOf(error));
    }
  }

  #deliver(): void {
    const waiting = this.#waiting;
    const { observer, backlog } = this.#run;
    while (waiting[0]?.isDurable === true) {
      const { contexts, arrivedAt } = waiting.shift() as Group;
      this.#size -= contexts.length;
      for (const context of contexts) {
        if (!context.isSynthetic) observer.recorded(context);
        this.next.push(context);
      }
      this.next.flush(arrivedAt);
      observer.delivered?.(contexts.length, arrivedAt);
    }
    backlog.set(this.#size);
    if (waiting.length === 0 && this.#ending !== undefined && !this.#isDead) {
      this.#isDead = true;
      this.next.end(this.#ending);
    }
  }

  #fail(error: unknown, failure: Failure): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#waiting.length = 0;
    const run = this.#run;
    run.backlog.set(0);
    run.observer.failed(failure.code, error);
    run.cancel();
    this.next.end({ failure });
  }
}

/** Calls the hook before delivery; a throw counts as a rejection. */
function callBeforeDelivery(
  run: Run,
  contexts: readonly EventContext[],
): Promise<void> | undefined {
  try {
    if (run.beforeDelivery === undefined) return undefined;
    const shown: AgUiEvent[] = [];
    for (const context of contexts) {
      noteSurfaces(run, context);
      shown.push(...shownOf(run, context));
    }
    return run.beforeDelivery(shown);
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

/** Records the surfaces that a delivered event shows and removes. */
function noteSurfaces({ shownSurfaces }: Run, context: EventContext): void {
  const { event, decision, surface, listedSurfaces = [], removedActivities } = context;
  if (event === undefined || shownSurfaces === undefined || decision?.allow !== true) return;
  if (context.isSynthetic || context.isListedPart) return;
  for (const facts of surface === undefined ? listedSurfaces : [surface.facts]) {
    shownSurfaces().see(facts);
  }
  if (removedActivities !== undefined) shownSurfaces().removed(removedActivities);
  if (event.type === "ACTIVITY_DELTA") shownSurfaces().replaced(event.messageId);
  else if (event.type === "ACTIVITY_SNAPSHOT") {
    if (event.replace !== false) shownSurfaces().replaced(event.messageId);
  } else if (event.type === "MESSAGES_SNAPSHOT") {
    for (const { id, role } of event.messages) {
      if (role === "activity") shownSurfaces().replaced(id);
    }
  }
}

/** The events that a client will receive for one event; none for a withheld or only recorded one. */
function shownOf(run: Run, context: EventContext): readonly AgUiEvent[] {
  const { event, emitted, decision } = context;
  if (event === undefined || context.isListedPart) return [];
  if (context.isSynthetic ? decision !== undefined : decision?.allow !== true) return [];
  return shownForms(run, emitted ?? event, context);
}
