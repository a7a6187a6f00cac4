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

/** Finds a name among others that a person or a lenient program may confuse with it. */
export type LookAlikes = {
  /** The first of the names that is this one or looks like it. */
  find(name: string): string | undefined;
};

/** Letters that one {@link LookAlikes} compares one by one. */
const MAX_COMPARED = 2_000_000;

/**
 * Indexes names by the forms that the lists of a policy compare, so that a plain name costs a lookup and not a comparison with each of
 * them. A letter of another script may look like any plain one: names with such letters are compared letter by letter with those of the
 * same length. Beyond a limit of letters they count as alike.
 */
export function createLookAlikes(names: Iterable<string>): LookAlikes {
  const exact = new Set(names);
  const byForm = new Map<string, string>();
  const plain = new Map<number, Form[]>();
  const foreign = new Map<number, Form[]>();
  for (const name of exact) {
    for (const form of new Set(wholeForms(name))) {
      if (byForm.has(form)) continue;
      byForm.set(form, name);
      const letters = [...form];
      const forms = isPlainName(form) ? plain : foreign;
      const same = forms.get(letters.length);
      if (same === undefined) forms.set(letters.length, [{ name, letters }]);
      else same.push({ name, letters });
    }
  }
  let left = MAX_COMPARED;
  const compare = (letters: readonly string[], forms: typeof plain): string | undefined =>
    forms.get(letters.length)?.find((one) => {
      left -= letters.length;
      return left < 0 || isDrawnAlike(letters, one.letters);
    })?.name;
  const findForm = (form: string): string | undefined => {
    const known = byForm.get(form);
    if (known !== undefined) return known;
    if (isPlainName(form)) return foreign.size === 0 ? undefined : compare([...form], foreign);
    return compare([...form], plain) ?? compare([...form], foreign);
  };
  return {
    find(name) {
      if (exact.size === 0 || exact.has(name)) return exact.has(name) ? name : undefined;
      const [folded, spaced] = wholeForms(name);
      return findForm(folded) ?? (spaced === folded ? undefined : findForm(spaced));
    },
  };
}

/** A form of a name that was indexed. */
type Form = { readonly name: string; readonly letters: readonly string[] };

/** Whether two names of the same length look alike. */
function isDrawnAlike(one: readonly string[], two: readonly string[]): boolean {
  for (let at = 0; at < one.length; at += 1) {
    const [mine, other] = [one[at] ?? "", two[at] ?? ""];
    if (mine !== other && mine <= "~" && other <= "~") return false;
  }
  return true;
}
