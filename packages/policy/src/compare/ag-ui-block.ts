import { blockSettings } from "../compile/rule.js";
import { DEFAULT_EVENTS_PER_SECOND } from "../compile/stream-rules.js";
import type { AgUiBlock, CapabilityScope, PolicyDocument } from "../document/model.js";
import { formatTarget } from "../vocabulary/target.js";
import { compareNeeds } from "./class-needs.js";
import type { PolicyChange } from "./change.js";
import { compareLimit, compareNames, compareText } from "./compare-values.js";
import { coversPlace, coversSame } from "./covers.js";
import { pairByName } from "./pairs.js";
import { compareOnBlock, compareStrength } from "./strength.js";

/** Compares `ag_ui`, whose defaults apply when a document only has other AG-UI blocks. */
export function compareAgUi(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [left, right]: AgUiBlock[] = [before.rules.ag_ui ?? {}, after.rules.ag_ui ?? {}];
  if (left === undefined || right === undefined) return [];
  const [old, now] = [blockSettings(before, left), blockSettings(after, right)];
  return [
    ...compareStrength("mode", old.mode, now.mode),
    ...compareNeeds(before, after, "outbound"),
    ...compareTransport(left.transport ?? "any", right.transport ?? "any"),
    ...compareLimit(
      "max_events_per_second",
      left.max_events_per_second ?? DEFAULT_EVENTS_PER_SECOND,
      right.max_events_per_second ?? DEFAULT_EVENTS_PER_SECOND,
    ),
    ...compareScopes(left.capability_scopes ?? [], right.capability_scopes ?? []),
    ...compareOnBlock(old.onBlock, now.onBlock),
  ];
}

function compareTransport(before: string, after: string): PolicyChange[] {
  const effect = before === "any" ? "stricter" : after === "any" ? "looser" : "both";
  return compareText("transport", before, after, effect);
}

/** An entry restricts: events it covers need exactly its scope. */
function compareScopes(
  before: readonly CapabilityScope[],
  after: readonly CapabilityScope[],
): PolicyChange[] {
  return pairByName(before, after, (entry) => entry.scope_id).flatMap(
    ({ name, before: old, after: now }): PolicyChange[] => {
      const setting = `capability_scopes ${name}`;
      if (old === undefined) {
        return [{ setting, kind: "added", effect: "stricter", says: "asked for from now on" }];
      }
      if (now === undefined) {
        return [{ setting, kind: "removed", effect: "looser", says: "not asked for any more" }];
      }
      return [
        ...compareNames(
          `${setting} allow_event_types`,
          old.allow_event_types ?? "any",
          now.allow_event_types ?? "any",
          "stricter",
          coversSame,
        ),
        ...compareNames(
          `${setting} allow_targets`,
          placesOf(old),
          placesOf(now),
          "stricter",
          coversPlace,
        ),
      ];
    },
  );
}

function placesOf({ allow_targets: targets }: CapabilityScope): readonly string[] | "any" {
  return targets?.map(formatTarget) ?? "any";
}
