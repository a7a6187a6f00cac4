/** The effect of a change on the allowed events: more, fewer, either, or no change. */
export type Effect = "looser" | "stricter" | "both" | "same";

/** The effect of several changes together. */
export function joinEffects(effects: Iterable<Effect>): Effect {
  const seen = new Set(effects);
  if (seen.has("both") || (seen.has("looser") && seen.has("stricter"))) return "both";
  if (seen.has("looser")) return "looser";
  return seen.has("stricter") ? "stricter" : "same";
}

/** The effect of the reverse change. */
export function reverseOf(effect: Effect): Effect {
  if (effect === "looser") return "stricter";
  return effect === "stricter" ? "looser" : effect;
}
