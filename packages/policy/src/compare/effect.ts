/** What a change does to what passes: more of it, less of it, either, or nothing. */
export type Effect = "looser" | "stricter" | "both" | "same";

/** The effect of several changes together. */
export function joinEffects(effects: Iterable<Effect>): Effect {
  const seen = new Set(effects);
  if (seen.has("both") || (seen.has("looser") && seen.has("stricter"))) return "both";
  if (seen.has("looser")) return "looser";
  return seen.has("stricter") ? "stricter" : "same";
}

/** The effect of the change the other way round. */
export function reverseOf(effect: Effect): Effect {
  if (effect === "looser") return "stricter";
  return effect === "stricter" ? "looser" : effect;
}
