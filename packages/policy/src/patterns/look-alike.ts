/** Combining marks and invisible characters: spaces, control and format characters, fillers. */
const UNSEEN = /[\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/gu;
const CAMEL = /(?<=[a-z0-9])(?=[A-Z])/gu;
const SEPARATOR = /[-.:/\s]/gu;
/** Plain characters that look alike, each with its representative. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[1i|!]/gu, "l"],
  [/0/gu, "o"],
  [/rn/gu, "m"],
  [/vv/gu, "w"],
];

/** Whether a name is printable ASCII, whose look-alikes are all known. */
export function isPlainName(name: string): boolean {
  return /^[ -~]*$/u.test(name);
}

/**
 * The folded form of a name: names that a person or a lenient program confuses have the same form.
 * Letter case, width, marks, invisible characters and the kind of separator are ignored, and so are
 * the differences of `0` and `o`, and of `1`, `i` and `l`. Letters of other scripts are kept: no
 * table of their look-alikes is complete, so names with them are never compared by this form alone
 * (see {@link isPlainName}).
 */
export function foldName(name: string): string {
  let folded = name.normalize("NFKD").replace(UNSEEN, "").replace(SEPARATOR, "_").toLowerCase();
  for (const [alike, letter] of ALIKE) folded = folded.replace(alike, letter);
  return folded;
}

/** Separates the words of a camel-case name: `deleteUser` becomes `delete_User`. */
export function setApart(name: string): string {
  return name.replace(CAMEL, "_");
}

/** A name with its separators normalized, and without separators at its ends. */
export function spacedOut(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "_")
    .replace(/^_+|_+$/gu, "");
}

/** The folded form of a name, and the form without separators: word boundaries are ignored. */
export function wholeForms(name: string): readonly [string, string] {
  const joined = (folded: string): string => folded.replaceAll("_", "");
  return [joined(foldName(name)), joined(foldName(spacedOut(name)))];
}

/**
 * Whether a person or a lenient program may confuse two names, by the forms that the lists of a
 * policy compare. A letter of another script may look like any plain one.
 */
export function looksLike(name: string, other: string): boolean {
  const others = wholeForms(other);
  return wholeForms(name).some((one) => others.some((two) => isDrawnAlike([...one], [...two])));
}

function isDrawnAlike(one: readonly string[], two: readonly string[]): boolean {
  return (
    one.length === two.length &&
    one.every((letter, at) => letter === two[at] || letter > "~" || (two[at] ?? "") > "~")
  );
}
