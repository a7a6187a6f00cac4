import * as fc from "fast-check";

/** Names of character references for what matters in an address. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "/": ["sol"],
  ":": ["colon"],
  "@": ["commat"],
  "\\": ["bsol"],
  ".": ["period"],
  "&": ["amp", "AMP"],
  "\t": ["Tab"],
  "\n": ["NewLine"],
  "(": ["lpar"],
  "#": ["num"],
};

const zeros = fc.constantFrom("", "", "0", "00", "0".repeat(7), "0".repeat(70));
const end = fc.constantFrom(";", ";", "", "");

/** One character of an address in a form that renderers or browsers may decode. */
function written(character: string): fc.Arbitrary<string> {
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const reference = fc.oneof(
    fc.tuple(zeros, end).map(([zero, close]) => `&#${zero}${code}${close}`),
    fc.tuple(zeros, end).map(([zero, close]) => `&#x${zero}${hex}${close}`),
    fc.tuple(zeros, end).map(([zero, close]) => `&#X${zero}${hex.toUpperCase()}${close}`),
    fc
      .tuple(fc.constantFrom(...(NAMES[character] ?? ["amp"])), end)
      .map(([name, close]) => `&${name}${close}`),
  );
  return fc.oneof(
    { weight: 4, arbitrary: reference },
    { weight: 1, arbitrary: reference.map((one) => one.replace("&", "&amp;")) },
    { weight: 1, arbitrary: reference.map((one) => one.replace("&", "&#38")) },
    { weight: 2, arbitrary: fc.constant(`\\${character}`) },
    { weight: 1, arbitrary: fc.constant(`%${hex.padStart(2, "0")}`) },
    // The full-width form, which IDNA maps back.
    { weight: 1, arbitrary: fc.constant(String.fromCharCode(code + 0xfee0)) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(
          "\t",
          "\n",
          "&Tab;",
          "&#9",
          "&#10;",
          "\u00AD",
          "&shy",
          "\u200B",
          " ",
          "\u0001",
        )
        .map((noise) => noise + character),
    },
  );
}

/** The characters of `text`, a few of them in another form. */
function disguised(text: string): fc.Arbitrary<string> {
  const places = fc.uniqueArray(
    // Characters at the start, and punctuation, matter most.
    fc.oneof(
      fc.nat({ max: Math.min(7, text.length - 1) }),
      fc.constantFrom(...Array.from(text, (_, at) => at).filter((at) => /\W/.test(text[at] ?? ""))),
    ),
    { maxLength: 3 },
  );
  return places.chain((chosen) =>
    fc
      .tuple(
        ...Array.from(text, (character, at) =>
          chosen.includes(at) ? written(character) : fc.constant(character),
        ),
      )
      .map((parts) => parts.join("")),
  );
}

const between = fc.constantFrom(
  "",
  "",
  "",
  '"',
  "'",
  "|",
  "]",
  "(",
  "()",
  "<",
  ">",
  ")",
  "[",
  "{",
  "`",
  "*",
  "_",
  "~",
  " ",
  "!",
  "。",
);
const misleading = fc
  .tuple(
    fc.constantFrom(
      "https://",
      "http://",
      "https:",
      "https:///",
      "https:\\\\",
      "https:/\\",
      "//",
      "/\\",
      "\\\\",
      "www.",
      "HTTPS://",
      "ftp://",
    ),
    between,
    fc.constantFrom("@", ":x@", "%20@", "%40"),
  )
  .map(([before, sign, at]) => `${before}bank.example${sign}${at}evil.example`);
const targets = fc.oneof(
  { weight: 3, arbitrary: misleading },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "//evil.example/x",
      "https://evil.example/x",
      "/\\evil.example/x",
      "\\\\evil.example/x",
      "javascript:x()",
      "vbscript:x()",
      "data:text/html,x",
      "data:image/png;base64,AA",
      "data:image/svg+xml,x",
      "file:///x",
      "blob:https://page.example/1",
      "ms-msdt:/id",
      "search:x",
      "https://img.example/x",
      "https://img.example@evil.example/x",
      "//img.example.evil.example",
      "https://bank.example/@evil.example",
      "/x?a=b&c=d",
      "x&y.png",
    ),
  },
);

/** Positions where a renderer reads an address; `¤` represents it. */
const PLACES = [
  "![a](¤)",
  "![a](¤)",
  "![a](<¤>)",
  '![a](¤ "t")',
  "![a](\n¤\n)",
  "[a](¤)",
  "[a](¤)",
  "[a](<¤>)",
  "[a](<¤)>)",
  "[![a](¤)](/x)",
  "[a](/x)¤",
  "[a]: ¤\n\n![a]",
  "[a]: ¤\n\n[a]",
  "![a][b]\n\n[b]: ¤",
  "![a]\n\n[a]: <¤>",
  "[a]\n\n[a]: <¤> 't'",
  "[a]\n\n[a]:\n¤",
  "[a]\n\n[a]: ¤)",
  "x[^1]\n\n[^1]: ¤",
  "| a |\n|--|\n| ¤ |",
  "| a |\n|--|\n| [a](¤) |",
  "<¤>",
  "<¤",
  "¤",
  "¤",
  "(¤)",
  "*¤*",
  "https&#58;//x ¤",
  '<img src="¤">',
  "<img src=¤>",
  '<img srcset="¤ 2x">',
  '<a href="¤">x</a>',
  "<b style='background:url(¤)'>x</b>",
  '`<img src="¤">',
  "`<img src=¤>",
  '`<a href="¤">x',
  "`<a href=¤>x",
  "``<p style='background:url(¤)'>x",
  '<td background="¤">',
];
const BEFORE = [
  "",
  "",
  "",
  "x ",
  "- ",
  "> ",
  "*",
  "**b** ",
  "(",
  '"',
  "`c` ",
  "x",
  "a\n",
  "1. ",
  "- [ ] ",
  "\\",
  "!",
  "<p>\n",
  "[",
  "&",
  "_b_",
  "_",
  "\\_",
  "\\:",
  "~~b~~",
  "b&colon;",
];
const AFTER = ["", "", "", " x", "\n\nx", ")", "`", ">", "*", '"', ".", "@x.example", "]", "</p>"];

/** Texts with an address that leads outside, runs something or misleads, disguised or not. */
export const GENERATED_ADDRESSES: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...BEFORE),
    fc.constantFrom(...PLACES),
    targets.chain(disguised),
    fc.constantFrom(...AFTER),
  )
  .map(([before, place, address, after]) => before + place.replace("¤", () => address) + after);
