import { isCountersignError } from "@countersign/core";
import type { Passage, StreamEnd } from "../pipeline/passage.js";
import type { Stage } from "../pipeline/stage.js";
import { draftOf, inboundDraftOf } from "./draft.js";

/** The person is told this code when a receipt could not be made durable. */
export const UNRECORDED = "RECEIPTS_UNAVAILABLE";

type Waiting = { readonly passage: Passage; durable: boolean };

/** Signs for every decision, and lets nothing on before its receipt is durable, in the order it came. */
export const record: Stage = {
  name: "record",
  open: (run, next) => {
    const waiting: Waiting[] = [];
    let ending: StreamEnd | undefined;
    let dead = false;

    const letOn = (): void => {
      while (waiting[0]?.durable === true) {
        const { passage } = waiting.shift() as Waiting;
        run.observer.recorded(passage);
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
      const reason = isCountersignError(error) ? error.code : "unknown";
      run.cancel(`receipt not durable: ${reason}`);
      next.end({ failure: { code: UNRECORDED, message: "the decision could not be recorded" } });
    };

    return {
      push: (passage) => {
        if (dead) return;
        const item: Waiting = { passage, durable: false };
        waiting.push(item);
        run.backlog.set(waiting.length);
        run.recorder.append(draftOf(run, passage)).then(({ id, seq }) => {
          item.durable = true;
          passage.receiptId = id;
          passage.seq = seq;
          if (!dead) letOn();
        }, fail);
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
