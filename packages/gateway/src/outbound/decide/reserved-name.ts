/** The vendor part of the names under which the gateway speaks: `countersign.blocked` and whatever comes. */
const VENDOR = "countersign";
/** Of the vendor's letters so many must be plain ones: a word of another script is somebody's own name. */
const PLAIN_LETTERS = 4;
/** What ends a vendor part: one of the separators in use, or a character that may be drawn like one. */
const SEPARATOR = /[.:/]|[^\p{ASCII}\p{Alphabetic}]/u;
/** Marks on letters, and what nobody sees: spaces, control and format characters, variation selectors, fillers. */
const UNSEEN = /[\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Whether a person or a lenient program could take a CUSTOM name for one of the gateway's own.
 *
 * Clients compare names exactly, applications and people do not: letter case, width, spaces, marks and unseen
 * characters do not count, and a character outside ASCII stands for any letter (`сountersign` with a Cyrillic `с`),
 * since no table of look-alikes is ever complete.
 */
export function isReservedName(name: string): boolean {
  const letters = [...name.normalize("NFKD").toLowerCase().replace(UNSEEN, "")];
  if (!SEPARATOR.test(letters[VENDOR.length] ?? "")) return false;
  let plain = 0;
  for (const [index, expected] of [...VENDOR].entries()) {
    const letter = letters[index] as string;
    if (letter === expected) plain += 1;
    else if (letter <= "\u007f") return false;
  }
  return plain >= PLAIN_LETTERS;
}
