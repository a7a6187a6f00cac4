import { classify } from "./classify/stage.js";
import { decide } from "./decide/stage.js";
import { decode } from "./decode/stage.js";
import { deliver } from "./deliver/stage.js";
import { enforce } from "./enforce/stage.js";
import { order } from "./order/stage.js";
import { record } from "./record/stage.js";
import { translate } from "./translate/stage.js";
import type { Run } from "../event/run.js";
import type { Stage, Step } from "../event/stage.js";

/** The stages of an event, in order. Every transport uses them, nothing flows backwards, and no event reaches a client without them. */
export const STAGES: readonly Stage[] = [
  decode,
  translate,
  enforce,
  order,
  classify,
  decide,
  record,
  deliver,
];

/** Opens the stages of one run, connected. `done` resolves when all events of the run are recorded and sent. */
export function openPipeline(run: Run): { readonly first: Step; readonly done: Promise<void> } {
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const nothing = (): void => {};
  const last = { push: nothing, proceed: nothing, flush: nothing, end: finish, fail: finish };
  return { first: STAGES.reduceRight<Step>((next, stage) => stage.open(run, next), last), done };
}
