import { foldName, setApart } from "../patterns/look-alike.js";

/** Letters of other scripts that are drawn like Latin ones. */
const DRAWN_ALIKE: ReadonlyMap<string, string> = new Map(
  (
    "аa вb сc ԁd еe ёe һh нh іl їl јj кk ӏl мm оo рp ԛq ѕs тt ѵv ԝw хx уy үy зз " +
    "αa βb ϲc εe ηn ιl κk νv οo ρp τt υu χx γy ɑa ɡg ıl ɩl ʟl ɴn øo đd łl ħh ŧt ßss ꜱs ʀr"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, 1), pair.slice(1)]),
);
/** Shorter words are compared with whole words alone: `pin` is in `shipping`. */
const LONG = 6;

/** Finds words of a list in texts, however they are written. */
export type WordMatch = {
  /** The first word of the list that a text has. */
  find(text: string): string | undefined;
};

/**
 * Compiles a list of words and phrases. Case, accents, width, invisible characters, separators and
 * letters that look alike do not matter; long words are also found within others. A letter of
 * another script next to Latin letters counts as any letter.
 */
export function compileWords(words: Iterable<string>): WordMatch {
  const short = new Map<string, string>();
  const long: { readonly folded: string; readonly word: string }[] = [];
  for (const word of words) {
    const folded = joined(word);
    if (folded === "") continue;
    if (folded.length < LONG) short.set(folded, word);
    else long.push({ folded, word });
  }
  return {
    find(text) {
      const whole = joined(text);
      const parts = wordsOf(text);
      const isForeign = (part: string): boolean => /[a-z]/u.test(part) && /[^ -~]/u.test(part);
      for (const part of [whole, ...parts]) {
        const known = short.get(part);
        if (known !== undefined) return known;
        if (!isForeign(part)) continue;
        for (const [folded, word] of short) if (isAlike(part, 0, folded, true)) return word;
      }
      for (const { folded, word } of long) {
        if (whole.includes(folded)) return word;
        if (parts.some((part) => isForeign(part) && containsAlike(part, folded))) return word;
      }
      return undefined;
    },
  };
}

/** The words and phrases of a list that is written with commas. */
export function readWords(text: string): readonly string[] {
  return text.split(",").map((word) => word.trim().replace(/\s+/gu, " "));
}

/** The folded words of a text; `enterPIN2` has `enter` and `pin`. */
export function wordsOf(text: string): string[] {
  return setApart(text.normalize("NFKD").replace(/\p{M}|\p{Default_Ignorable_Code_Point}/gu, ""))
    .split(/[^\p{L}\p{N}!|]+/u)
    .map((word) => drawn(foldName(word.replace(/(?<=\p{L})\d+$/u, ""))))
    .filter((word) => word !== "");
}

/** The folded letters and digits of a text, without what separates them. */
function joined(text: string): string {
  const letters = text.normalize("NFKD").replace(/[^\p{L}\p{N}!|]+/gu, "");
  return drawn(foldName(letters));
}

function drawn(folded: string): string {
  return /^[ -~]*$/u.test(folded)
    ? folded
    : Array.from(folded, (letter) => DRAWN_ALIKE.get(letter) ?? letter).join("");
}

function containsAlike(part: string, word: string): boolean {
  for (let at = 0; at + word.length <= part.length; at += 1) {
    if (isAlike(part, at, word, false)) return true;
  }
  return false;
}

/** Half of the letters at least must be the word's own. */
function isAlike(part: string, from: number, word: string, isWhole: boolean): boolean {
  if (isWhole && part.length !== word.length) return false;
  let same = 0;
  for (let at = 0; at < word.length; at += 1) {
    const letter = part[from + at] ?? "";
    if (letter === word[at]) same += 1;
    else if (letter <= "~") return false;
  }
  return same * 2 >= word.length;
}
