import type { JsonObject, JsonValue } from "@countersign/core";
import tlds from "tlds" with { type: "json" };
import type { ContentFinding } from "./finding.js";
import { findInValue, memberOf } from "./parts.js";
import type { FoundText } from "./parts.js";

/** Texts that some renderer turns into a link. */
const LINK = new RegExp(
  [
    // Two slashes, a scheme that leaves the page, and what GFM links without one.
    String.raw`\/\/|\b(?:https?|ftp|mailto|tel|sms|xmpp):\S|www\.`,
    // A link of Markdown, also by reference; `<scheme:…>` with any scheme. `<std::string>` is a type.
    String.raw`\]\(|\]:\s*<?[a-z][a-z0-9+.-]+:(?!:)\S|<[a-z][a-z0-9+.-]{1,31}:(?!:)[^\s<>]*>`,
    // A character reference that can stand for one of these characters.
    String.raw`&(?!(?:amp|lt|gt|quot|apos|nbsp);)(?:#|[a-z][a-z0-9]*;|colon|sol)`,
    // A mail address. Packages (`x@1.2.3`), folders (`/@scope`) and decorators (`'@app.route'`) are none.
    String.raw`[\p{L}\p{N}.;:&=+$,!#%*?^\x60{|}~_-]"*@[^\s/@]*\.[\p{L}\p{N}_-]*\p{L}|<[^\s<>@]+@[^\s<>@]+>`,
  ].join("|"),
  "iu",
);
/** A name with something behind it, which linkify-it links where the name ends in a top-level domain: `evil.com/login`. */
const NAME_AND_PATH =
  /(?<![\p{L}\p{N}.:/\\@_-])(?:[\p{L}\p{N}_-]+\.)+([\p{L}\p{N}-]+)(?::\d{1,5})?(?=\/|[?#]\S)/giu;
/** Any other mail address, which counts where a part of its host is a top-level domain: markdown-it 15 links `'@evil.com`. */
const MAIL = /\S@([^\s/@]*)/gu;
const LABEL = /\.([\p{L}\p{N}-]+)/gu;
/** Remark links a text after it has removed these. */
const ESCAPE = /\\(?=[!-/:-@[-`{-~])/g;

const DOMAINS: ReadonlySet<string> = new Set([...tlds, "example"]);

/** Members of an error event that a page shows. */
const SHOWN = ["message", "code", "usage"] as const;
const FAILURES: ReadonlySet<JsonValue> = new Set(["RUN_ERROR", "SUBAGENT_ERROR"]);
const ERROR = /error|exception|failure/i;
/** Deeper than an envelope may be nested. */
const MAX_DEPTH = 256;

/** Is given a text of an error; the place of a link in it. */
type Find = (text: string) => number | undefined;

/** The first link in the texts of an error: of an error event, of an error envelope, or of a member of one that is named so. */
export function findErrorLink(event: JsonObject): ContentFinding | null {
  const link = findInError(event, (text) => {
    const unescaped = text.replace(ESCAPE, "");
    return linkAt(text) ?? (unescaped === text ? undefined : linkAt(unescaped));
  });
  if (link === undefined) return null;
  return { kind: "links_in_errors", offset: link.found, part: link.pointer };
}

/** Characters of the texts that are searched for links. */
export function measureErrorTexts(event: JsonObject): number {
  let characters = 0;
  findInError(event, (text) => {
    characters += text.length;
    return undefined;
  });
  return characters;
}

function findInError(event: JsonObject, find: Find): FoundText<number> | undefined {
  if (event["type"] !== undefined) {
    if (!FAILURES.has(event["type"])) return undefined;
    let found: FoundText<number> | undefined;
    for (const name of SHOWN) found ??= findInValue(memberOf(event, name), `/${name}`, find);
    return found;
  }
  if (!Object.hasOwn(event, "event_type")) return undefined;
  const payload = memberOf(event, "payload");
  const type = JSON.stringify(memberOf(event, "event_type") ?? null);
  return ERROR.test(type)
    ? findInValue(payload, "/payload", find)
    : findInMembers(payload, "/payload", 0, find);
}

function linkAt(text: string): number | undefined {
  const link = LINK.exec(text)?.index;
  if (link !== undefined) return link;
  for (const { 1: domain, index } of text.matchAll(NAME_AND_PATH)) {
    if (isDomain(domain)) return index;
  }
  for (const { 1: host = "", index } of text.matchAll(MAIL)) {
    for (const [, domain] of host.matchAll(LABEL)) if (isDomain(domain)) return index;
  }
  return undefined;
}

function isDomain(label: string | undefined): boolean {
  return label !== undefined && DOMAINS.has(label.toLowerCase());
}

function findInMembers(
  value: JsonValue | undefined,
  pointer: string,
  depth: number,
  find: Find,
): FoundText<number> | undefined {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = ERROR.test(name)
      ? findInValue(inner, `${pointer}/*`, find)
      : findInMembers(inner, `${pointer}/*`, depth + 1, find);
    if (found !== undefined) return found;
  }
  return undefined;
}
