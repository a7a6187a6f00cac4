/** Marks on letters, and what a person cannot see: spaces, control and format characters, fillers. */
const UNSEEN = /[\p{M}\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/gu;
const CAMEL = /(?<=[a-z0-9])(?=[A-Z])/gu;
const SEPARATOR = /[-.:/\s]/gu;
/** Plain characters that are drawn alike, each with the one that stands for it. */
const ALIKE: readonly (readonly [RegExp, string])[] = [
  [/[1i|!]/gu, "l"],
  [/0/gu, "o"],
  [/rn/gu, "m"],
  [/vv/gu, "w"],
];

/** Whether a name has nothing but printable ASCII, of which every look-alike is known. */
export function isPlainName(name: string): boolean {
  return /^[ -~]*$/u.test(name);
}

/**
 * What a name looks like: two names that a person or a lenient program takes for one have the same form. Letter
 * case, width, marks, unseen characters and the kind of separator do not count, nor do `0` and `o`, `1`, `i` and `l`.
 *
 * Letters of other scripts are kept: no table of their look-alikes is ever complete, so names with them are never
 * compared by this form alone (see {@link isPlainName}).
 */
export function foldName(name: string): string {
  let folded = name.normalize("NFKD").replace(UNSEEN, "").replace(SEPARATOR, "_").toLowerCase();
  for (const [alike, letter] of ALIKE) folded = folded.replace(alike, letter);
  return folded;
}

/** The words of a name in capitals, as `deleteUser` has them, set apart as in `delete_User`. */
export function setApart(name: string): string {
  return name.replace(CAMEL, "_");
}

/** A name in which spaces and signs of any kind set words apart, and none stands at its ends. */
export function spacedOut(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "_")
    .replace(/^_+|_+$/gu, "");
}

/** What a name looks like in one word: its form, and its form without the signs in it. Where words are set apart does not count. */
export function wholeForms(name: string): readonly [string, string] {
  const joined = (folded: string): string => folded.replaceAll("_", "");
  return [joined(foldName(name)), joined(foldName(spacedOut(name)))];
}

/**
 * Whether a person or a lenient program may take one name for the other, by the forms that the lists of a policy
 * compare. A letter of another script may be drawn like any plain one.
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
