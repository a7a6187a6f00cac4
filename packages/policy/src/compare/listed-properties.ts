import { compileRequestSettings } from "../compile/request-settings.js";
import type { PolicyDocument } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareNeedRanks, NEEDS, needOf } from "./class-needs.js";
import { compareNames } from "./compare-values.js";
import { coversGlob } from "./covers.js";
import { reverseOf } from "./effect.js";
import type { Effect } from "./effect.js";
import { looksBeyondClass } from "./looks-beyond.js";

/** Patterns of forwarded properties that do only what they are listed for. */
export function listedProperties(document: PolicyDocument): readonly string[] {
  if (compileRequestSettings(document).mode("forwarded_props") === "off") return [];
  return document.rules.ag_ui_request?.forwarded_props?.allow ?? [];
}

/** Compares how listing a property affects its class, apart from the list itself. */
export function compareListed(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const named = before.rules.ag_ui_classify;
  const isNamed = named?.input?.forwarded_props?.classification !== undefined;
  if (isNamed && named?.enabled !== false) return [];
  const effect = effectOfListing(after);
  return compareNames(
    "forwarded_props listed as display",
    listedProperties(before),
    listedProperties(after),
    "looser",
    coversGlob,
  )
    .map((change) => ({
      ...change,
      effect: change.kind === "widened" ? effect : reverseOf(effect),
    }))
    .filter((change) => change.effect !== "same");
}

/** A listed property is display instead of mutate. */
function effectOfListing(policy: PolicyDocument): Effect {
  if (looksBeyondClass(policy, true)) return "both";
  const [unlisted, listed] = (["mutate", "display"] as const).map((name) =>
    NEEDS.indexOf(needOf(policy, "inbound", name)),
  );
  return compareNeedRanks(unlisted, listed);
}
