import type { EventMatch } from "../document/model.js";
import { coversGlob } from "./covers.js";
import type { Effect } from "./effect.js";

/** The effect of another `match` on a rule that restricts. */
export function compareMatches(
  before: EventMatch | undefined,
  after: EventMatch | undefined,
): Effect {
  const isWider = coversMatch(after ?? {}, before ?? {});
  const isNarrower = coversMatch(before ?? {}, after ?? {});
  if (isWider && isNarrower) return "same";
  if (isWider) return "stricter";
  return isNarrower ? "looser" : "both";
}

function coversMatch(wide: EventMatch, narrow: EventMatch): boolean {
  return (Object.keys(wide) as (keyof EventMatch)[]).every((key) => {
    const [asked, given] = [wide[key], narrow[key]];
    if (asked === undefined || asked === given) return true;
    return key === "tool" && given !== undefined && coversGlob(asked, given);
  });
}

/** A match as text. */
export function describeMatch(match: EventMatch | undefined): string {
  const parts = Object.entries(match ?? {}).map(([key, value]) => `${key} ${value}`);
  return parts.length === 0 ? "every event" : parts.join(", ");
}
