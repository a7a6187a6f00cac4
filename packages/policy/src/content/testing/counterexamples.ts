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
];
