import type { AgUiEvent } from "@countersign/wire";
import { shownForms } from "../deliver/client-stream.js";
import { failureOf } from "../deliver/run-error.js";
import type { Failure } from "../deliver/run-error.js";
import type { EventContext, Step, StreamEnd } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import type { Stage } from "../../event/stage.js";
import { draftOf } from "./draft.js";
import type { Recorded } from "../../event/recorder.js";

/** The person is told this when a receipt could not be made durable. */
export const UNRECORDED: Failure = {
  code: "RECEIPTS_UNAVAILABLE",
  message: "the decision could not be recorded",
};

/** Events signed for with one question to the log; one signing message of the log takes as many. */
const MAX_GROUP = 128;

/** What arrived together: it is signed for with one question to the log, and delivered in one write. */
class Group {
  readonly contexts: readonly EventContext[];
  readonly arrivedAt: number;
  isDurable = false;

  constructor(contexts: readonly EventContext[], arrivedAt: number) {
    this.contexts = contexts;
    this.arrivedAt = arrivedAt;
  }

  /** Those that need a receipt: not what is ours. */
  get signed(): readonly EventContext[] {
    const { contexts } = this;
    return contexts.some(isSupplied) ? contexts.filter((one) => !one.supplied) : contexts;
  }

  /** Takes down where each of them stands in the log. */
  settle(recorded: readonly Recorded[]): void {
    this.signed.forEach((context, index) => {
      const { id, seq } = recorded[index] as Recorded;
      context.receiptId = id;
      context.seq = seq;
    });
    this.isDurable = true;
  }
}

function isSupplied({ supplied }: EventContext): boolean {
  return supplied;
}

/** Signs for every decision, and lets nothing on before its receipt is durable, in the order it came. */
export const record: Stage = {
  name: "record",
  open: (run, next) => new RecordStep(run, next),
};

class RecordStep implements Step {
  readonly #run: Run;
  readonly #next: Step;
  /** Groups on their way to the log, in order. */
  readonly #waiting: Group[] = [];
  #gathered: EventContext[] = [];
  #size = 0;
  #ending: StreamEnd | undefined;
  #isDead = false;

  constructor(run: Run, next: Step) {
    this.#run = run;
    this.#next = next;
  }

  push(context: EventContext): void {
    if (this.#isDead) return;
    // Not pushed into an empty array: that makes room for sixteen at once, with every event.
    if (this.#gathered.length === 0) this.#gathered = [context];
    else this.#gathered.push(context);
    this.#size += 1;
    // The log may begin with the first of them while the rest is still being judged.
    if (this.#gathered.length >= MAX_GROUP) this.flush(performance.now());
  }

  flush(arrivedAt: number): void {
    if (this.#isDead || this.#gathered.length === 0) return;
    const run = this.#run;
    const group = new Group(this.#gathered, arrivedAt);
    this.#gathered = [];
    this.#waiting.push(group);
    run.backlog.set(this.#size);
    // Whatever goes wrong on the way to the log means that nothing was signed for.
    try {
      const { signed } = group;
      const drafts =
        run.receipts === undefined
          ? signed.map((context) => draftOf(run, context))
          : run.receipts.draftsOf(run, signed);
      const appended = run.recorder.appendAll(drafts);
      const followed = tellOf(run, group.contexts);
      const durable =
        followed === undefined
          ? appended
          : // Both are under way at once, and a failure of either is a failure of the group.
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
      // A log that answers for fewer than it was asked has not signed for all.
      this.#fail(error, UNRECORDED);
    }
    if (!this.#isDead) this.#letOn();
  }

  end(end: StreamEnd): void {
    if (this.#isDead) return;
    this.flush(performance.now());
    this.#ending = end;
    this.#letOn();
  }

  fail(failure: Failure): void {
    this.end({ failure });
  }

  /** What cannot be delivered ends its run, and no other: nobody awaits this, so a throw would end the process. */
  #letOn(): void {
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
        if (!context.supplied) observer.recorded(context);
        this.#next.push(context);
      }
      this.#next.flush(arrivedAt);
      observer.delivered?.(contexts.length, arrivedAt);
    }
    backlog.set(this.#size);
    if (waiting.length === 0 && this.#ending !== undefined && !this.#isDead) {
      this.#isDead = true;
      this.#next.end(this.#ending);
    }
  }

  #fail(error: unknown, failure: Failure): void {
    if (this.#isDead) return;
    this.#isDead = true;
    this.#waiting.length = 0;
    const run = this.#run;
    run.backlog.set(0);
    run.observer.failed(failure.code, error);
    run.cancel(failure.code);
    this.#next.end({ failure });
  }
}

/** Tells what is about to be shown to whoever must know before it is; what is thrown is a rejection too. */
function tellOf(run: Run, contexts: readonly EventContext[]): Promise<void> | undefined {
  try {
    if (run.beforeDelivery === undefined) return undefined;
    const shown: AgUiEvent[] = [];
    for (const context of contexts) shown.push(...shownOf(run, context));
    return run.beforeDelivery(shown);
  } catch (error) {
    return Promise.reject(error as Error);
  }
}

/** The events a client will be shown of a event; none of what is withheld or only signed for. */
function shownOf(run: Run, context: EventContext): readonly AgUiEvent[] {
  const { event, emitted, decision, part, supplied } = context;
  if (event === undefined || part) return [];
  if (supplied ? decision !== undefined : decision?.allow !== true) return [];
  return shownForms(run, emitted ?? event, context);
}
