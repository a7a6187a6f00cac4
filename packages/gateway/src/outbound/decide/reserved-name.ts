/** The prefix of the gateway's own event names, such as `countersign.blocked`. */
const VENDOR = "countersign";
/** The number of the prefix's letters that must be ASCII: a word in another script is an application's own name. */
const PLAIN_LETTERS = 4;
/** The end of a prefix: a common separator, or a character that may look like one. */
const SEPARATOR = /[.:/]|[^\p{ASCII}\p{Alphabetic}]/u;
/** Marks on letters, and invisible characters: spaces, control and format characters, variation selectors, fillers. */
const UNSEEN = /[\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Whether a person or a lenient program could mistake a CUSTOM name for one of the gateway's own.
 *
 * Clients compare names exactly; applications and people do not. The comparison ignores letter case, width, spaces, marks and invisible
 * characters. A character outside ASCII stands for any letter (`сountersign` with a Cyrillic `с`), because no table of look-alikes is
 * complete.
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
