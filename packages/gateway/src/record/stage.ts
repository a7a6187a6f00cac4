import type { AgUiEvent } from "@countersign/wire";
import { shownForms } from "../deliver/client-stream.js";
import { createGuard } from "../deliver/guard.js";
import type { Guard } from "../deliver/guard.js";
import { UNSOUND, UNSOUND_RULE } from "../deliver/run-error.js";
import type { Failure } from "../deliver/run-error.js";
import { ownDenial } from "../decide/structure.js";
import type { Passage, StreamEnd } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Stage } from "../pipeline/stage.js";
import { draftOf, inboundDraftOf } from "./draft.js";
import type { Recorded } from "./recorder.js";
import { review } from "./review.js";

/** The person is told this when a receipt could not be made durable. */
export const UNRECORDED: Failure = {
  code: "RECEIPTS_UNAVAILABLE",
  message: "the decision could not be recorded",
};

/** Passages signed for with one question to the log; one signing message of the log takes as many. */
const MAX_GROUP = 128;

/** What arrived together: it is signed for with one question to the log, and delivered in one write. */
type Group = {
  readonly passages: readonly Passage[];
  readonly arrivedAt: number;
  durable: boolean;
};

/** Signs for every decision, and lets nothing on before its receipt is durable, in the order it came. */
export const record: Stage = {
  name: "record",
  open: (run, next) => {
    const guard = createGuard();
    const waiting: Group[] = [];
    let gathered: Passage[] = [];
    let size = 0;
    let ending: StreamEnd | undefined;
    let dead = false;
    let over = false;

    const letOn = (): void => {
      while (waiting[0]?.durable === true) {
        const { passages, arrivedAt } = waiting.shift() as Group;
        size -= passages.length;
        for (const passage of passages) {
          if (!passage.supplied) run.observer.recorded(passage);
          next.push(passage);
        }
        next.flush?.(arrivedAt);
        run.observer.delivered?.(passages.length, arrivedAt);
      }
      run.backlog.set(size);
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
    const flush = (arrivedAt: number): void => {
      if (dead || gathered.length === 0) return;
      const group: Group = { passages: gathered, arrivedAt, durable: false };
      gathered = [];
      waiting.push(group);
      run.backlog.set(size);
      // Whatever goes wrong on the way to the log means that nothing was signed for.
      makeDurable(run, group.passages).then(() => {
        group.durable = true;
        if (!dead) letOn();
      }, fail);
    };

    return {
      push: (passage) => {
        if (dead || over) return;
        const decision = review(run, passage);
        if (decision !== undefined && decision !== passage.decision) {
          passage.decision = decision;
          // The person hears nothing more of this run but its end: nothing more is signed as delivered.
          over = !decision.allow && decision.onBlock === "end";
        }
        if (!holdToGuard(guard, passage)) over = true;
        gathered.push(passage);
        size += 1;
        // The log may begin with the first of them while the rest is still being judged.
        if (gathered.length >= MAX_GROUP) flush(performance.now());
      },
      flush,
      end: (end) => {
        if (dead) return;
        flush(performance.now());
        ending = end;
        letOn();
      },
    };
  },
  admit: async (request) => {
    const [recorded] = await request.recorder.appendAll([inboundDraftOf(request)]);
    if (recorded === undefined) throw new TypeError("the log answered without an entry");
    request.receiptId = recorded.id;
    request.seq = recorded.seq;
  },
};

/**
 * Gives a passage the form its client accepts; without one it is blocked, and false.
 *
 * The form is found before it is hashed: no receipt may name other bytes than those that left, or call
 * something delivered that could not be.
 */
function holdToGuard(guard: Guard, passage: Passage): boolean {
  const { event, emitted, decision, part, supplied } = passage;
  if (event === undefined || part || (!supplied && decision?.allow !== true)) return true;
  const shown = emitted ?? event;
  const sound = guard.check(shown);
  if (sound === undefined) {
    passage.decision = ownDenial(UNSOUND_RULE, UNSOUND.message, "end");
    return false;
  }
  if (sound !== shown) passage.emitted = sound;
  return true;
}

/** Resolves when everything that must be durable before delivery is: the receipts, and what others hang on it. */
async function makeDurable(run: Run, passages: readonly Passage[]): Promise<void> {
  const signed = passages.filter(({ supplied }) => !supplied);
  const appended = run.recorder.appendAll(signed.map((passage) => draftOf(run, passage)));
  if (run.beforeDelivery !== undefined) {
    const shown = passages.flatMap((passage) => shownOf(run, passage));
    // Both are under way at once, and a failure of either is a failure of the group.
    await Promise.all([appended, startOf(run.beforeDelivery, shown)]);
  }
  const recorded = await appended;
  for (let index = 0; index < signed.length; index += 1) {
    const passage = signed[index] as Passage;
    const { id, seq } = recorded[index] as Recorded;
    passage.receiptId = id;
    passage.seq = seq;
  }
}

/** Whatever is thrown at once is a rejection like any other. */
async function startOf(
  before: NonNullable<Run["beforeDelivery"]>,
  events: readonly AgUiEvent[],
): Promise<void> {
  await before(events);
}

/** The events a client will be shown of a passage; none of what is withheld or only signed for. */
function shownOf(run: Run, passage: Passage): readonly AgUiEvent[] {
  const { event, emitted, decision, part, supplied } = passage;
  if (event === undefined || part) return [];
  if (supplied ? decision !== undefined : decision?.allow !== true) return [];
  return shownForms(run, emitted ?? event, passage);
}
