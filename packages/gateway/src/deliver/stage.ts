import { CountersignError } from "@countersign/core";
import { assertInput } from "../inbound/request.js";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Stage } from "../pipeline/stage.js";
import { openClientStream } from "./client-stream.js";
import type { ClientStream } from "./client-stream.js";
import "./errors.js";
import { noticeOf } from "./notice.js";
import { BLOCKED } from "./run-error.js";
import type { Failure } from "./run-error.js";

/** Serialises what was allowed and durable; what was blocked exists only in the log. */
export const deliver: Stage = {
  name: "deliver",
  open: (run, next) => {
    const client = openClientStream(run);
    let ended = false;
    const finish = (failure: Failure | undefined): void => {
      if (ended) return;
      ended = true;
      if (failure !== undefined) client.fail(failure);
      client.end();
      next.end({});
    };
    return {
      push: (passage) => {
        if (ended) return;
        const failure = deliverOne(run, client, passage);
        if (failure === undefined) return;
        run.cancel(failure.code);
        finish(failure);
      },
      end: ({ failure }) => finish(failure),
    };
  },
  admit: (request) => {
    const { decision } = request;
    if (decision === undefined || !decision.allow) {
      throw new CountersignError("ERR_INBOUND_BLOCKED", decision?.reason ?? "undecided", {
        rule: decision?.rule ?? "undecided",
        receipt: request.receiptId ?? "",
      });
    }
    request.body = JSON.stringify(assertInput(request));
  },
};

/** Delivers or withholds one event; a failure returned ends the run. */
function deliverOne(run: Run, client: ClientStream, passage: Passage): Failure | undefined {
  const { event, decision } = passage;
  if (event === undefined || decision === undefined) return undefined;
  if (decision.allow) {
    run.counters.forwarded += 1;
    client.write(passage.emitted ?? event, passage);
    return undefined;
  }
  run.counters.blocked += 1;
  if (decision.onBlock === "end")
    return { ...BLOCKED, message: `${BLOCKED.message}: ${decision.reason}` };
  // Without its start or its end a run cannot be told honestly in any other way.
  if (event.type === "RUN_STARTED" || event.type === "RUN_FINISHED") {
    return { ...BLOCKED, message: `${BLOCKED.message}: ${decision.reason}` };
  }
  if (decision.onBlock === "notice" && client.isRunOpen) client.write(noticeOf(passage));
  return undefined;
}
