import type { Failure } from "../deliver/run-error.js";
import type { Passage, StreamEnd } from "../pipeline/passage.js";
import type { Stage } from "../pipeline/stage.js";
import { draftOf, inboundDraftOf } from "./draft.js";
import { review } from "./review.js";

/** The person is told this when a receipt could not be made durable. */
export const UNRECORDED: Failure = {
  code: "RECEIPTS_UNAVAILABLE",
  message: "the decision could not be recorded",
};

type Waiting = { readonly passage: Passage; durable: boolean };

/** Signs for every decision, and lets nothing on before its receipt is durable, in the order it came. */
export const record: Stage = {
  name: "record",
  open: (run, next) => {
    const waiting: Waiting[] = [];
    let ending: StreamEnd | undefined;
    let dead = false;
    let over = false;

    const letOn = (): void => {
      while (waiting[0]?.durable === true) {
        const { passage } = waiting.shift() as Waiting;
        if (passage.supplied !== true) run.observer.recorded(passage);
        next.push(passage);
      }
      run.backlog.set(waiting.length);
      if (waiting.length === 0 && ending !== undefined && !dead) {
        dead = true;
        next.end(ending);
      }
    };
    const fail = (error: unknown): void => {
      if (dead) return;
      dead = true;
      waiting.length = 0;
      run.backlog.set(0);
      run.observer.failed(UNRECORDED.code, error);
      run.cancel(UNRECORDED.code);
      next.end({ failure: UNRECORDED });
    };

    // Whatever goes wrong on the way to the log means that nothing was signed for.
    const append = async (passage: Passage): Promise<{ id: string; seq: number }> =>
      run.recorder.append(draftOf(run, passage));

    return {
      push: (passage) => {
        if (dead || over) return;
        const decision = review(run, passage);
        if (decision !== undefined && decision !== passage.decision) {
          passage.decision = decision;
          // The person hears nothing more of this run but its end: nothing more is signed as delivered.
          over = !decision.allow && decision.onBlock === "end";
        }
        const item: Waiting = { passage, durable: passage.supplied === true };
        waiting.push(item);
        if (item.durable) return letOn();
        run.backlog.set(waiting.length);
        append(passage).then(({ id, seq }) => {
          item.durable = true;
          passage.receiptId = id;
          passage.seq = seq;
          if (!dead) letOn();
        }, fail);
        return undefined;
      },
      end: (end) => {
        if (dead) return;
        ending = end;
        letOn();
      },
    };
  },
  admit: async (request) => {
    const { id, seq } = await request.recorder.append(inboundDraftOf(request));
    request.receiptId = id;
    request.seq = seq;
  },
};
