import { sha256 } from "#sha256";
import { encodeBase64 } from "../bytes/base64.js";
import type { JsonObject } from "../json/value.js";

// Characters that a page or a terminal interprets or hides: controls, zero-width, bidirectional and tag
// characters, lone surrogates, line and paragraph separators, and the two that XML cannot contain.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffe\uffff]/gu;

/** Text whose invisible characters are written out, so that captured traffic cannot change what is read. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    character === "\n" || character === "\t"
      ? character
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/** Text for HTML and XML, in content and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? "");
}

/** The attributes of an XML element, in the order in which they are written. */
export type XmlAttributes = Readonly<Record<string, string | number>>;

/** One test case of a JUnit file; `result` is absent when the case passed without output. */
export type JunitCase = {
  readonly attributes: XmlAttributes;
  readonly result?: {
    readonly element: "failure" | "error" | "skipped" | "system-out";
    readonly attributes?: XmlAttributes;
    readonly text?: string;
  };
};

/** A JUnit XML file. */
export function writeJunitXml(
  attributes: XmlAttributes,
  suites: readonly { readonly attributes: XmlAttributes; readonly cases: readonly JunitCase[] }[],
): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributesXml(attributes)}>`,
    ...suites.flatMap((suite) => [
      `  <testsuite${attributesXml(suite.attributes)}>`,
      ...suite.cases.map((one) => `    ${caseXml(one)}`),
      "  </testsuite>",
    ]),
    "</testsuites>",
    "",
  ].join("\n");
}

function caseXml({ attributes, result }: JunitCase): string {
  if (result === undefined) return elementXml("testcase", attributes);
  const text = result.text === undefined ? undefined : escapeMarkup(result.text);
  const inner = elementXml(result.element, result.attributes ?? {}, text);
  return elementXml("testcase", attributes, inner);
}

function elementXml(name: string, attributes: XmlAttributes, content?: string): string {
  const start = `<${name}${attributesXml(attributes)}`;
  return content === undefined ? `${start}/>` : `${start}>${content}</${name}>`;
}

function attributesXml(attributes: XmlAttributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeMarkup(String(value))}"`)
    .join("");
}

/** A SARIF 2.1.0 file with one run. */
export function writeSarifLog(run: JsonObject): string {
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [run],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

/**
 * An HTML page that stands alone: the page loads nothing. Its policy names the digests of `style` and `scripts`,
 * so a browser runs no other script and applies no `style` attribute. `body` is markup.
 */
export function writeHtmlPage(page: {
  readonly title: string;
  readonly style: string;
  readonly body: string;
  readonly scripts?: readonly string[];
}): string {
  const { title, style, body, scripts = [] } = page;
  const policy = [
    "default-src 'none'",
    `style-src ${sourceOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    ...(scripts.length === 0 ? [] : [`script-src ${scripts.map(sourceOf).join(" ")}`]),
  ].join("; ");
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${style}</style></head><body>`,
    body,
    ...scripts.map((script) => `<script>${script}</script>`),
    "</body></html>",
    "",
  ].join("\n");
}

/** The digest by which a content security policy names an inline text. */
function sourceOf(text: string): string {
  return `'sha256-${encodeBase64(sha256(text))}'`;
}
