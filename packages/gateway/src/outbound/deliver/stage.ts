import type { Denial } from "@countersign/policy";
import type { Interrupt } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import { PassingStep } from "../../event/stage.js";
import type { Stage, Step, StreamEnd } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { ClientStream } from "./client-stream.js";
import { isPlainName, noticeOf } from "./notice.js";
import { BLOCKED, DISORDERED, endsRun, UNSOUND, UNSOUND_RULE } from "./run-error.js";
import type { Failure } from "./run-error.js";

/** Sends allowed and recorded events. A blocked event exists only in the log. */
export const deliver: Stage = {
  name: "deliver",
  open: (run, next) => new DeliverStep(run, next),
};

class DeliverStep extends PassingStep {
  readonly #run: Run;
  readonly #client: ClientStream;
  #hasEnded = false;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
    this.#client = new ClientStream(run);
  }

  push(context: EventContext): void {
    if (this.#hasEnded) return;
    const failure = deliverOne(this.#run, this.#client, context);
    if (failure === undefined) return;
    this.#run.observer.failed(failure.code, undefined, context);
    this.#run.cancel();
    this.end({ failure });
  }

  override flush(): void {
    this.#client.flush();
  }

  override end({ failure }: StreamEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    try {
      if (failure !== undefined) this.#client.fail(failure);
      this.#client.end();
    } finally {
      this.next.end({});
    }
  }

  override fail(failure: Failure): void {
    this.end({ failure });
  }
}

/** Delivers or withholds one event; a returned failure ends the run. */
function deliverOne(run: Run, client: ClientStream, context: EventContext): Failure | undefined {
  const { event, decision } = context;
  if (context.refused !== undefined) {
    run.counters.blocked += 1;
    return undefined;
  }
  if (event === undefined) return undefined;
  if (context.isSynthetic && decision === undefined) {
    client.write(event, context);
    return undefined;
  }
  if (decision === undefined) return undefined;
  if (decision.allow) {
    if (context.isListedPart) return undefined;
    run.counters.forwarded += 1;
    client.write(context.emitted ?? event, context);
    return undefined;
  }
  run.counters.blocked += 1;
  if (endsRun(event, decision, client.isRunOver)) return endingFor(decision, context);
  if (decision.onBlock === "notice" && client.isRunOpen) client.write(noticeOf(context));
  return undefined;
}

function endingFor(denial: Denial, { event, receiptId }: EventContext): Failure {
  const { rule, reason, reasonCode } = denial;
  const receipt = receiptId === undefined ? {} : { receipt: receiptId };
  if (rule === UNSOUND_RULE) return { ...UNSOUND, ...receipt };
  const { code, message } = reasonCode === "order_violation" ? DISORDERED : BLOCKED;
  const told = { code, message: `${message}: ${reason}`, ...receipt };
  return event?.type === "RUN_FINISHED" && event.outcome?.type === "interrupt"
    ? { ...told, ...withheldQuestion(told.message, denial, event.outcome.interrupts) }
    : told;
}

/** The agent waits for the answer to an interrupt that the gateway withheld: the client and the operator receive this message. */
function withheldQuestion(
  message: string,
  { rule }: Denial,
  interrupts: readonly Interrupt[],
): Pick<Failure, "message" | "remedy"> {
  const reasons = [...new Set(interrupts.map(({ reason }) => reason))];
  const entries = reasons.map(
    (reason) => `{ match: ${JSON.stringify(reason)}, classification: display }`,
  );
  const isListed = rule === "ag_ui.capability" && reasons.every(isPlainName);
  return {
    message: `${message}. The gateway withheld a question of the agent. If the next message fails too, start a new conversation`,
    remedy: isListed
      ? `add to the policy under rules: ag_ui_classify: { interrupts: [${entries.join(", ")}] }`
      : "countersign policy explain with this receipt says what opens the question",
  };
}
