import { matchesGlob } from "../patterns/glob.js";

/**
 * Whether everything a pattern matches is matched by another one. It may say no where the answer is yes: a list
 * then seems to change where it does not, and never the other way round.
 */
export type Covers = (wide: string, narrow: string) => boolean;

/** Names without patterns. */
export const coversSame: Covers = (wide, narrow) => wide === narrow;

/** `type` stands for each `type:id`, and for none. */
export const coversPlace: Covers = (wide, narrow) =>
  wide === narrow || (!wide.includes(":") && narrow.startsWith(`${wide}:`));

/** A trailing `*` stands for any ending. */
export const coversPrefix: Covers = (wide, narrow) =>
  wide === narrow || (wide.endsWith("*") && narrow.startsWith(wide.slice(0, -1)));

/** `*` stands for any run of characters and `?` for one. */
export const coversGlob: Covers = (wide, narrow) => {
  if (wide === narrow) return true;
  // A star of the narrow one may stand for anything, which only a star of the wide one takes.
  if (narrow.includes("*") && wide.includes("?")) return false;
  return matchesGlob(wide, narrow);
};
