import * as fc from "fast-check";

/** One of several pieces, which a bar in the middle of the line divides. */
const oneOf = (...lines: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...lines.flatMap((line) => line.split("¦")));
const joined = (piece: fc.Arbitrary<string>, most: number): fc.Arbitrary<string> =>
  fc.array(piece, { minLength: 1, maxLength: most }).map((pieces) => pieces.join(""));

/** Everything that opens, closes or hides something, in any order. */
const pieces = joined(
  oneOf(
    "`¦``¦```¦~~~¦\n¦\n\n¦\n```\n¦\n~~~\n¦\n```html\n¦  ¦   ¦    ¦ ¦\t¦- ¦* ¦1. ¦2. ¦> ¦10) ¦+ ¦* * *¦---",
    "\n- ¦\n  ¦\n    ¦\n> ¦\n1. ¦\n   ¦\r¦\r\n¦\uFEFF¦#¦[ ] ¦<div>¦<div class=x>¦<p¦<script>¦</script>¦<style>",
    '<img src=//e.x>¦<img src=x>¦<b onclick=x>¦<a href=javascript:x>¦<a href="https://e.x">¦<svg>¦<path d=x>',
    "<details>¦<!--¦-->¦<pre>¦</pre>¦<?¦<br>¦<textarea>¦<b title=\"¦<a title='¦<b <i¦<a\n¦<x ¦<T,¦<dialog open>¦<bdo dir=rtl>¦</bdo>",
    "<svg/onload=x>¦<iframe src=x>¦<input type=x>¦![a](//e.x)¦![a](/x)¦![¦](¦](https://e.x)¦]¦[a]¦[a]: //e.x",
    "[a]: /x '¦]:¦[^1]: ¦$¦$$¦|¦\n|-\n¦| a |\n|--|\n¦\\¦\\`¦&#96;¦_¦{¦=¦a¦text¦\"¦'¦>¦<¦onclick=x¦/¦(¦)¦=\"",
    "<b.x>¦<p#x¦<script.x>¦<q&sol;¦\n\t\n¦\n \t\n    ¦\n\uFEFF\n¦\n```a|\n---\n¦\n~~~|\n|-|\n¦<kbd>¦</kbd>¦<code >¦</code>",
    "<kbd\u00A0>¦<kbd\u3000>¦<img ' src=//e.x>¦[a](javascript:x)¦[a]: javascript:x¦[`]: ¦[`]¦<!-- </kbd> -->",
    'https://e.x/¦www.e.x/¦<https://e.x/¦style="background:url(//e.x)">',
  ),
  14,
);

/** Beginnings of a line, with valid and invalid indentation. */
const starts = oneOf(
  "¦¦¦ ¦\t¦\uFEFF¦  ¦   ¦    ¦\t¦- ¦* ¦1. ¦2. ¦> ¦10) ¦>¦-¦+ ¦     ¦- [ ] ¦      ",
  // Marks with tabs, with leading zeros and without white space, and what only looks like one.
  " \t¦  \t¦-\t¦- \t¦1.\t¦>\t¦01. ¦001. ¦0. ¦1234567890. ¦2024¦1.¦*¦+¦-  ¦1.  ¦-     ¦- - ¦> > ¦- > ¦\u00A0¦\u200B¦\u2028",
);
/** Texts of lines that begin, end or hide blocks. */
const bodies = oneOf(
  "```¦```¦~~~¦````¦```html¦``` x¦```a`b¦~~~ ~¦text¦¦¦¦<div>¦<p>x</p>¦<details>¦[a¦a]¦$$¦---¦***¦# h¦[ ] t",
  "```a|¦~~~|¦~~~a|b¦```\\|¦---¦-|-¦|---|¦\t¦ \t¦\t¦\uFEFF¦![a¦](//e.x)¦x <img¦src=//e.x>¦<kbd>¦</kbd>¦<img ' src=//e.x>¦x <img ' src=//e.x>¦x <kbd>",
  '<img src=//e.x>¦<img src=//e.x>¦![a](//e.x)¦| a |¦|--|¦a`b¦<!-- x -->¦<a¦[a]: /x¦===¦<i>¦</i>¦<x">¦\\',
);
/** Fences, plain and nearly so. */
const fences = oneOf(
  '```¦```¦```¦~~~¦~~~¦````¦~~~~¦```js¦~~~js¦``` js¦```js a="b" {1}¦``` ¦~~~ ¦```\t¦~~~\t¦```~¦~~~`¦```~~~¦``` ~¦```a`¦``¦```````',
  "```\u00A0¦```\uFEFF¦```\u2028¦```\\¦```<b>¦```[a]: /x¦~~~[a](¦```$$¦~~~***¦```===¦```-¦``` -¦```a|¦~~~|",
);
const spaces = (most: number): fc.Arbitrary<string> =>
  fc.nat({ max: most }).map((width) => " ".repeat(width));
/** Lines that may open or end a list, a quote or a paragraph. */
const containers = fc.oneof(
  oneOf("¦¦¦ ¦\t¦>¦> "),
  fc
    .tuple(
      fc.oneof(spaces(3), spaces(9), oneOf("> ¦>   ¦> > ¦>¦\t¦ \t¦\uFEFF¦\u00A0")),
      oneOf("¦-¦-¦*¦+¦1.¦1)¦2.¦2)¦10.¦01.¦0.¦123456789."),
      oneOf(" ¦ ¦ ¦  ¦   ¦    ¦     ¦\t¦ \t¦"),
      oneOf(
        "aa¦aa¦aa bb¦**aa**¦`aa¦aa\\¦# aa¦> aa¦<b>aa</b>¦a¦¦[ ] aa¦| aa | bb |¦|--|--|¦---¦- aa¦1. aa¦$$aa¦[aa¦===¦* * *¦<!-- aa -->¦aa <b¦[^1]: aa¦aa|bb¦-|-",
      ),
    )
    .map((parts) => parts.join("")),
);
const shown = oneOf(
  "![a](//e.x)¦<img src=//e.x>¦[a](javascript:x)¦<b onclick=x>t</b>¦https://b@e.x/",
);
const linesOf = (
  before: fc.Arbitrary<string>,
  body: fc.Arbitrary<string>,
  most: number,
): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(before, body, oneOf("\n¦\n¦\n¦\n¦\n\n¦\r\n¦\r")), {
      minLength: 2,
      maxLength: most,
    })
    .map((lines) => lines.map((line) => line.join("")).join(""));
/** Lines that are mostly fences, text in them or an attack, so that most of it is code for some renderer. */
const fenced = linesOf(
  fc.oneof(
    { weight: 4, arbitrary: oneOf("¦¦¦ ¦  ¦   ") },
    { weight: 1, arbitrary: starts },
    { weight: 1, arbitrary: fc.tuple(starts, starts).map((pair) => pair.join("")) },
  ),
  fc.oneof(
    { weight: 4, arbitrary: fences },
    { weight: 2, arbitrary: containers },
    { weight: 1, arbitrary: bodies },
    { weight: 2, arbitrary: shown },
  ),
  8,
);

/** A fence, what it holds and its end, with the same before each line, behind lists and quotes. */
const placed = fc
  .tuple(
    fc.array(containers, { maxLength: 4 }),
    fc.oneof(spaces(3), spaces(11), oneOf("> ¦>   ¦>¦>  ")),
    oneOf("```¦~~~¦````¦```js¦``` js"),
    fc.array(oneOf("x¦  x¦\tx¦- aa¦~~¦``¦> x¦<b>¦1. aa¦    ```¦---¦| a |¦[a]: /x"), {
      maxLength: 2,
    }),
    shown,
    fc.boolean(),
  )
  .map(([above, before, open, inside, attack, isClosed]) => {
    const close = isClosed ? [open.replace(/[^`~]/g, "")] : [];
    const held = [open, ...inside, attack, ...close].map((line) => before + line);
    return [...above, ...held].join("\n");
  });
/** One or two of them, with something odd in one place. */
const placedTwice = fc
  .tuple(placed, fc.oneof(fc.constant(""), placed), fc.nat(), oneOf("¦¦¦ ¦\t¦> ¦\n¦\u00A0¦x¦1"))
  .map(([first, second, at, odd]) => {
    const lines = `${first}\n${second}`.split("\n");
    const place = at % lines.length;
    return lines.map((line, index) => (index === place ? odd + line : line)).join("\n");
  });

const blocks = fc
  .array(fc.tuple(fc.array(starts, { maxLength: 3 }), bodies), { minLength: 2, maxLength: 9 })
  .map((lines) => lines.map(([start, body]) => start.join("") + body).join("\n"));

/** Code within lines, and what may take a backtick for itself. */
const spans = joined(
  oneOf(
    "`¦`¦`¦``¦```¦ ¦ ¦a¦text¦\n¦\n\n¦<script>¦</script>¦*{}¦<style>¦<div class=x>¦</div>¦<b ¦onclick=x ¦>¦=¦$¦|",
    '\n|-|\n¦| ¦\\¦[a](¦)¦(¦[¦]¦!¦"¦\'¦https://e.x/¦www.e.x/¦<https://e.x¦<svg>¦<path d=x>¦<b title="¦- ¦<kbd>¦</kbd>',
    "![a](//e.x)¦[a](javascript:x)¦<img ' src=//e.x>¦<code>¦</code>¦<pre\u00A0>¦[`]: //e.x¦\n[`]: javascript:x¦![`]¦\n\t\n¦</kbd/>",
    "<a href=/x>¦*¦**¦_¦~~¦<i¦&#96;¦[a]¦<!--¦[^1]¦<a@b.c¦<?¦[``¦![``]()¦<b title=\"`\">¦<i lang='>`'>¦<!--a>`-->¦<img src=//e.x>¦![`](//e.x)",
  ),
  16,
);

/** Tags and addresses that go on over lines, of which each has the marks of its quotes and the indentation of its list. */
const cuttable = oneOf(
  "![a](¶//e.x)¦[a](¶javascript:x)¦[a]:¶//e.x\n\n![a]¦![a]\n\n[a]:¶//e.x¦[a]:¶javascript:x\n\n[a]¦![a¶](//e.x)¦![a](<¶//e.x>)",
  "<img¶ src=//e.x>¦<img src¶=//e.x>¦<img src=¶//e.x>¦<b¶ onclick=x>t</b>¦<b title='¶' onclick=x>t</b>¦<b class=¶x>t</b>",
  "<a href='java¶script:x'>t</a>¦<a href=¶javascript:x>t</a>¦<b style='background:¶url(//e.x)'>t</b>¦</b¶><b onclick=x>t</b>¦<bdo¶>t</bdo>",
);
const overLines = fc
  .tuple(
    oneOf("¦¦aa ¦`¦aa `¦``¦aa `a` ¦<i>¦- ¦1. ¦[ ] ¦# "),
    cuttable,
    fc.array(oneOf("¦¦ ¦  ¦\t¦aa¦title=a¦`¦\\"), { maxLength: 2 }),
    oneOf("¦¦> ¦> ¦>¦> > ¦>> ¦ > ¦- ¦- > ¦> - ¦1. > ¦[^1]: ¦    "),
    fc.array(oneOf("¦¦¦> ¦>¦  > ¦  ¦    ¦> > ¦   > ¦>   ¦    > ¦- "), { maxLength: 3 }),
    oneOf("\n¦\n¦\r\n¦\r"),
  )
  .map(([before, text, inner, first, marks, end]) => {
    const cut = text.replace("¶", ["", ...inner, ""].join("\n"));
    const mark = (index: number): string =>
      index === 0 ? first : (marks[index - 1] ?? first.replace(/[^> ]/g, " "));
    return `${before}${cut}`
      .split("\n")
      .map((line, index) => mark(index) + line)
      .join(end);
  });

/** Tags that no `>` ends in their block of HTML, and what renderers write behind it: the browser reads on. */
const throughBlocks = fc
  .tuple(
    oneOf("¦¦¦- ¦> ¦1. ¦- [ ] ¦<!-- a -->¦<?a?>¦<pre></pre>¦<p>x</p>¦aa\n¦aa\n\n¦> - ¦[^1]: "),
    oneOf(
      '<div title="¦<p lang=\'¦<td class="a¦<div class=a¦<div title=x¦<div class="a"¦<x-y title="¦<li dir=\'a ¦<b title="¦<div¦<div ¦<p title',
    ),
    oneOf("¦\n¦\n¦\n\n¦\n\n¦\n \n¦\r\n\r\n¦\n> \n¦\n\t\n¦\n- ¦\n  "),
    oneOf("¦¦# a\n\n¦text\n\n¦---\n\n¦```js\nx\n```\n\n¦| a |\n|--|\n\n¦- ¦> ¦> x\n\n¦</div>\n\n"),
    oneOf(
      '[a](/onclick=x)¦[a](x/onclick=x "t")¦![a](/onerror=x)¦[a](</class=x y>)¦[a](/x "class=b c")¦<https://e.x/onclick=x>¦https://e.x/onclick=x¦[a]: /onclick=x\n\n[a]',
      "text¦\"text¦' onclick=x>¦=x¦class=x¦[a](/x)",
    ),
    oneOf('¦\n\ntext¦>text¦">text¦ x'),
  )
  .map((parts) => parts.join(""));

/** Texts that try to look like code, each in its way. */
export const GENERATED_TEXTS: readonly (readonly [string, fc.Arbitrary<string>])[] = [
  ["anything", pieces],
  ["blocks", blocks],
  ["fences", fenced],
  ["fences in containers", placedTwice],
  ["code within lines", spans],
  ["tags and addresses over lines", overLines],
  ["tags that go on behind their block", throughBlocks],
];
