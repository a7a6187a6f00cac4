import { classify } from "../classify/stage.js";
import { decide } from "../decide/stage.js";
import { decode } from "../decode/stage.js";
import { deliver } from "../deliver/stage.js";
import { enforce } from "../enforce/stage.js";
import { order } from "../order/stage.js";
import { record } from "../record/stage.js";
import { translate } from "../translate/stage.js";
import type { Step } from "./passage.js";
import type { Run } from "./run.js";
import type { Stage } from "./stage.js";

/**
 * The road of an event, in order. Every transport and both directions walk it; nothing flows backwards,
 * and there is no other way to a person.
 */
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

const NOWHERE: Step = { push: () => {}, end: () => {} };

/** Opens every stage for one run; what is pushed in comes out at the person's end, or nowhere. */
export function openPipeline(run: Run): Step {
  return STAGES.reduceRight((next, stage) => stage.open(run, next), NOWHERE);
}
