import { matchesGlob } from "../patterns/glob.js";

/**
 * Whether another pattern matches everything that a pattern matches. A false `no` is possible: then
 * a list seems to change although it does not, never the other way round.
 */
export type Covers = (wide: string, narrow: string) => boolean;

/** Names without patterns. */
export const coversSame: Covers = (wide, narrow) => wide === narrow;

/** `type` covers each `type:id`, and `type` without an id. */
export const coversPlace: Covers = (wide, narrow) =>
  wide === narrow || (!wide.includes(":") && narrow.startsWith(`${wide}:`));

/** A trailing `*` matches any ending. */
export const coversPrefix: Covers = (wide, narrow) =>
  wide === narrow || (wide.endsWith("*") && narrow.startsWith(wide.slice(0, -1)));

/** `*` matches any run of characters and `?` one character. */
export const coversGlob: Covers = (wide, narrow) => {
  if (wide === narrow) return true;
  // A star of the narrow pattern may match anything, which only a star of the wide one covers.
  if (narrow.includes("*") && wide.includes("?")) return false;
  return matchesGlob(wide, narrow);
};
