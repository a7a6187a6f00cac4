import { isActive } from "../compile/rule.js";
import type { EventMatch, EvidenceBlock, PolicyDocument } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareNames } from "./compare-values.js";
import { coversGlob } from "./covers.js";
import { compareMatches, describeMatch } from "./match.js";

/** Compares `ag_ui_evidence`: the less may be kept, the stricter. */
export function compareEvidence(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [blockOf(before), blockOf(after)];
  const matches = new Map(
    [...(old.never ?? []), ...(now.never ?? [])].map((match) => [describeMatch(match), match]),
  );
  const names = ({ never = [] }: EvidenceBlock): string[] => never.map(describeMatch);
  const covers = (wide: string, narrow: string): boolean =>
    isWider(matches.get(wide), matches.get(narrow));
  const redacted = ({ redact = [] }: EvidenceBlock): string[] =>
    redact.map((name) => name.toLowerCase());
  return [
    ...compareNames("redact", redacted(old), redacted(now), "stricter", coversGlob),
    ...compareNames("never", names(old), names(now), "stricter", covers),
  ];
}

function blockOf({ rules }: PolicyDocument): EvidenceBlock {
  return isActive(rules.ag_ui_evidence) ? rules.ag_ui_evidence : {};
}

function isWider(wide: EventMatch | undefined, narrow: EventMatch | undefined): boolean {
  const effect = compareMatches(narrow, wide);
  return effect === "stricter" || effect === "same";
}
