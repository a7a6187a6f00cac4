import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { DEFAULT_CHAT } from "../classify/refinement.js";
import type { Direction } from "../classify/facts.js";
import { INPUT_TABLE } from "../classify/table.js";
import { isActive } from "../compile/rule.js";
import type { ClassifyBlock, InputClassify, PolicyDocument } from "../document/model.js";
import { formatTarget } from "../vocabulary/target.js";
import { isAtLeastAsStrict } from "../vocabulary/classification.js";
import type { Classification } from "../vocabulary/classification.js";
import type { PolicyChange } from "./change.js";
import { compareNeedRanks, NEEDS, needOf } from "./class-needs.js";
import { compareText } from "./compare-values.js";
import type { Effect } from "./effect.js";
import { joinEffects } from "./effect.js";
import { listedProperties } from "./listed-properties.js";
import { looksBeyondClass } from "./looks-beyond.js";
import { pairByName } from "./pairs.js";

const LISTS = [
  "tools",
  "custom",
  "raw",
  "activities",
  "interrupts",
  "components",
  "state",
] as const;
const BOTH: readonly Direction[] = ["outbound", "inbound"];

/** An entry, its events, and, if known, their class without it. */
type Entry = {
  readonly name: string;
  readonly directions: readonly Direction[];
  readonly says: InputClassify;
  readonly otherwise?: Classification;
};

/** Compares `ag_ui_classify` by the requirements of the classes in the later policy. */
export function compareClassify(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [blockOf(before), blockOf(after)];
  const [left, right] = [entriesOf(old), entriesOf(now)];
  return [
    ...compareText(
      "chat",
      formatTarget(old.chat ?? DEFAULT_CHAT),
      formatTarget(now.chat ?? DEFAULT_CHAT),
      "both",
    ),
    ...pairByName(left, right, ({ name }) => name).flatMap((pair) =>
      compareEntry(after, pair.before, pair.after),
    ),
    ...compareOrderOf(left, right),
  ];
}

function blockOf({ rules }: PolicyDocument): ClassifyBlock {
  const block = rules.ag_ui_classify;
  return isActive(block) ? block : {};
}

function entriesOf(block: ClassifyBlock): Entry[] {
  const lists = LISTS.flatMap((list) =>
    (block[list] ?? []).map(({ match, ...says }): Entry => {
      const { direction, ...rest } = says as typeof says & { direction?: Direction };
      const isBoth = list === "state" || list === "custom" || list === "components";
      return {
        name: `${list} ${match}${direction === undefined ? "" : ` ${direction}`}`,
        directions: direction === undefined ? (isBoth ? BOTH : ["outbound"]) : [direction],
        says: rest,
      };
    }),
  );
  const parts = Object.entries(block.input ?? {}).map(([part, says]): Entry => ({
    name: `input ${part}`,
    directions: ["inbound"],
    says,
    otherwise: INPUT_TABLE[part as keyof typeof INPUT_TABLE].classification,
  }));
  return [...lists, ...parts];
}

function compareEntry(
  policy: PolicyDocument,
  before: Entry | undefined,
  after: Entry | undefined,
): PolicyChange[] {
  const entry = after ?? before;
  if (entry === undefined) return [];
  const [old, now] = [describe(before), describe(after)];
  if (old === now) return [];
  const kind = before === undefined ? "added" : after === undefined ? "removed" : "changed";
  return [
    { setting: entry.name, kind, effect: effectOf(policy, before, after), says: `${old} → ${now}` },
  ];
}

function effectOf(
  policy: PolicyDocument,
  before: Entry | undefined,
  after: Entry | undefined,
): Effect {
  const place = ({ event_type, target }: InputClassify): string =>
    canonicalJson({ event_type: event_type ?? null, target: (target ?? null) as JsonValue });
  const isSamePlace = place(before?.says ?? {}) === place(after?.says ?? {});
  // If a rule uses more than the class, another type or target may avoid it, or match it.
  if (looksBeyondClass(policy, isSamePlace)) return "both";
  if (isAboutListed(policy, before, after)) return "both";
  const claims = compareClaims(before, after);
  const directions = new Set([...(before?.directions ?? []), ...(after?.directions ?? [])]);
  const effects = new Set(
    [...directions].map((direction) => {
      const left = needUnder(policy, direction, before, after);
      const right = needUnder(policy, direction, after, before);
      return joinEffects([compareNeedRanks(left, right), claims]);
    }),
  );
  const [only = "both"] = effects;
  return effects.size === 1 ? only : "both";
}

/** The requirement of an entry's class; unknown if it depends on the table or an earlier entry. */
function needUnder(
  policy: PolicyDocument,
  direction: Direction,
  entry: Entry | undefined,
  other: Entry | undefined,
): number | undefined {
  const name =
    entry?.says.classification ??
    entry?.otherwise ??
    (entry === undefined ? other?.otherwise : undefined);
  return name === undefined ? undefined : NEEDS.indexOf(needOf(policy, direction, name));
}

/** Listed properties are display, whatever the table, until an entry gives them a class. */
function isAboutListed(
  policy: PolicyDocument,
  before: Entry | undefined,
  after: Entry | undefined,
): boolean {
  if ((after ?? before)?.name !== "input forwarded_props") return false;
  const isNamed = (entry: Entry | undefined): boolean => entry?.says.classification !== undefined;
  return isNamed(before) !== isNamed(after) && listedProperties(policy).length > 0;
}

/**
 * A claim below the class, or with another target, is refused: with a lower class some claims pass
 * that did not. The parts of a request have no claims.
 */
function compareClaims(before: Entry | undefined, after: Entry | undefined): Effect {
  if ((after ?? before)?.otherwise !== undefined) return "same";
  const [old, now] = [before?.says ?? {}, after?.says ?? {}];
  if (formatTarget(old.target) !== formatTarget(now.target)) return "both";
  const [lower, higher] = [old.classification, now.classification];
  if (lower === higher) return "same";
  // Without an entry it may be any class; none is below display.
  if (higher === undefined) return lower === "display" ? "stricter" : "both";
  if (lower === undefined) return higher === "display" ? "looser" : "both";
  return isAtLeastAsStrict(higher, lower) ? "stricter" : "looser";
}

/** The first matching entry decides, so another order may have another meaning. */
function compareOrderOf(before: readonly Entry[], after: readonly Entry[]): PolicyChange[] {
  const shared = (entries: readonly Entry[], others: readonly Entry[]): string[] => {
    const names = new Set(others.map(({ name }) => name));
    return entries.map(({ name }) => name).filter((name) => names.has(name));
  };
  const [old, now] = [shared(before, after), shared(after, before)];
  const isSame = old.every((name, index) => name === now[index]);
  return isSame
    ? []
    : [
        {
          setting: "order",
          kind: "changed",
          effect: "both",
          says: "entries stand in another order",
        },
      ];
}

function describe(entry: Entry | undefined): string {
  if (entry === undefined) return "as built in";
  const { event_type: type, classification, target } = entry.says;
  const parts = [
    type,
    classification,
    target === undefined ? undefined : `on ${formatTarget(target)}`,
  ];
  return parts.filter((part) => part !== undefined).join(" ") || "as built in";
}
