import { blockSettings, isActive } from "../compile/rule.js";
import type { EventMatch, PolicyDocument, PolicyMode, VelocityRule } from "../document/model.js";
import { capsOf } from "../compile/velocity-rules.js";
import type { VelocityLimit } from "../compile/velocity-rules.js";
import type { PolicyChange } from "./change.js";
import { compareLimit, compareText } from "./compare-values.js";
import { joinEffects } from "./effect.js";
import { compareMatches, describeMatch } from "./match.js";
import { pairByName } from "./pairs.js";
import { compareStrength } from "./strength.js";

type Cap = {
  readonly name: string;
  readonly mode: PolicyMode;
  readonly match: EventMatch | undefined;
  readonly limit: VelocityLimit;
};

/** Compares `velocity`, one cap at a time: each can only restrict. */
export function compareVelocity(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [left, right] = [namedCaps(before), namedCaps(after)];
  const changes = pairByName(left, right, ({ name }) => name).flatMap(
    ({ name, before: old, after: now }) => compareCap(name, old, now),
  );
  if (!readsCounters(after)) return changes;
  const order = (caps: readonly Cap[]): string => caps.map(({ name }) => name).join("; ") || "none";
  return [
    ...changes.map((change): PolicyChange => ({ ...change, effect: "both" })),
    ...compareText("order", order(left), order(right), "both"),
  ];
}

/** Whether a condition reads the counts of the caps by index: it may then have another meaning. */
function readsCounters({ rules }: PolicyDocument): boolean {
  const block = rules.ag_ui_conditions;
  return isActive(block) && (block.rules ?? []).some(({ when }) => /\bcounters\b/u.test(when));
}

/**
 * Caps without an id are identified by what they count, so that a new cap before them changes
 * nothing.
 */
function namedCaps(document: PolicyDocument): Cap[] {
  const value = document.rules.velocity;
  const sources = value === undefined ? [] : Array.isArray(value) ? value : [value];
  return sources.filter(isActive).flatMap((source: VelocityRule, index) => {
    const { mode } = blockSettings(document, source);
    return capsOf(source, index).map(({ limit }) => ({
      name:
        source.id === undefined
          ? `${describeMatch(source.match)} per ${limit.scope}`
          : `${source.id} per ${limit.scope}`,
      mode,
      match: source.match,
      limit,
    }));
  });
}

function compareCap(name: string, before: Cap | undefined, after: Cap | undefined): PolicyChange[] {
  if (before === undefined || after === undefined) {
    const change = compareStrength(name, before?.mode ?? "off", after?.mode ?? "off");
    const cap = before ?? after;
    return cap === undefined
      ? []
      : change.map((entry) => ({ ...entry, says: `${amount(cap.limit)}, ${entry.says}` }));
  }
  return [
    ...compareStrength(name, before.mode, after.mode),
    ...compareText(
      `${name} match`,
      describeMatch(before.match),
      describeMatch(after.match),
      compareMatches(before.match, after.match),
    ),
    ...compareText(
      name,
      amount(before.limit),
      amount(after.limit),
      compareAmounts(before.limit, after.limit),
    ),
  ];
}

function compareAmounts(
  before: VelocityLimit,
  after: VelocityLimit,
): ReturnType<typeof joinEffects> {
  if (before.kind !== after.kind) return "both";
  const isBucket = after.kind === "bucket";
  return joinEffects(
    [
      ...compareLimit("at once", before.capacity, after.capacity),
      // A longer window contains more delivered events; a bucket only has a refill rate.
      ...(isBucket
        ? compareLimit("rate", before.max / before.windowMs, after.max / after.windowMs)
        : compareLimit("window", after.windowMs, before.windowMs)),
    ].map(({ effect }) => effect),
  );
}

function amount({ kind, max, capacity, windowMs }: VelocityLimit): string {
  const burst = kind === "bucket" && capacity !== max ? `, ${capacity} at once` : "";
  return `${max} in ${windowMs / 1000} s${burst}`;
}
