import { foldName, isPlainName, setApart } from "../patterns/look-alike.js";

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
      for (const part of [whole, ...parts]) {
        const known = short.get(part);
        if (known !== undefined) return known;
      }
      // Latin letters beside others.
      const mixed = isPlainName(text)
        ? []
        : [whole, ...parts].filter((part) => /[a-z]/u.test(part) && /[^ -~]/u.test(part));
      for (const [folded, word] of short) {
        if (mixed.some((part) => part.length === folded.length && isAlike(part, 0, folded))) {
          return word;
        }
      }
      for (const { folded, word } of long) {
        if (whole.includes(folded)) return word;
        if (mixed.some((part) => containsAlike(part, folded))) return word;
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
  const plain = isPlainName(text)
    ? text
    : text.normalize("NFKD").replace(/\p{M}|\p{Default_Ignorable_Code_Point}/gu, "");
  const ends = isPlainName(plain) ? /[^A-Za-z0-9!|]+/u : /[^\p{L}\p{N}!|]+/u;
  // `P1N` is one word, `enterPIN` two: both readings count.
  return [...new Set([...plain.split(ends), ...setApart(plain).split(ends)])]
    .map((word) => fold(word.replace(/(?<=\p{L})\d+$/u, "")))
    .filter((word) => word !== "");
}

/** The folded letters and digits of a text, without what separates them. */
function joined(text: string): string {
  return isPlainName(text)
    ? fold(text.replace(/[^A-Za-z0-9!|]+/gu, ""))
    : fold(text.normalize("NFKD").replace(/[^\p{L}\p{N}!|]+/gu, ""));
}

const PLAIN_ALIKE: Readonly<Record<string, string>> = {
  "1": "l",
  i: "l",
  "!": "l",
  "|": "l",
  "0": "o",
  rn: "m",
  vv: "w",
};

/** Like `foldName`; a surface has thousands of texts, and most are plain. */
function fold(word: string): string {
  if (isPlainName(word)) {
    return word
      .toLowerCase()
      .replace(/[1i!|0]|rn|vv/gu, (letters) => PLAIN_ALIKE[letters] ?? letters);
  }
  return Array.from(foldName(word), (letter) => DRAWN_ALIKE.get(letter) ?? letter).join("");
}

function containsAlike(part: string, word: string): boolean {
  for (let at = 0; at + word.length <= part.length; at += 1) {
    if (isAlike(part, at, word)) return true;
  }
  return false;
}

/** Half of the letters at least must be the word's own. */
function isAlike(part: string, from: number, word: string): boolean {
  let same = 0;
  for (let at = 0; at < word.length; at += 1) {
    const letter = part[from + at] ?? "";
    if (letter === word[at]) same += 1;
    else if (letter <= "~") return false;
  }
  return same * 2 >= word.length;
}
