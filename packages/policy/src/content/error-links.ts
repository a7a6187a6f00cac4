import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentFinding } from "./finding.js";
import { findInValue, memberOf } from "./parts.js";

/**
 * An address in any spelling that a page makes a link of: a scheme, `//`, `www.`, a Markdown link, or a character reference
 * that can stand for one of their characters.
 */
const LINK =
  /\/\/|\b(?:https?|ftp|mailto|tel|sms):\S|www\.|\]\(|&(?!(?:amp|lt|gt|quot|apos|nbsp);)(?:#|[a-z][a-z0-9]*;|colon|sol)/i;
/** Members of an error event that a page shows. */
const SHOWN = ["message", "code", "usage"] as const;
const FAILURES: ReadonlySet<JsonValue> = new Set(["RUN_ERROR", "SUBAGENT_ERROR"]);
const ERROR = /error|exception|failure/i;
/** Deeper than an envelope may be nested. */
const MAX_DEPTH = 256;

/** The first link in the texts of an error: of an error event, of an error envelope, or of a member of one that is named so. */
export function findErrorLink(event: JsonObject): ContentFinding | null {
  if (event["type"] !== undefined) {
    if (!FAILURES.has(event["type"])) return null;
    return SHOWN.reduce<ContentFinding | null>(
      (found, name) => found ?? linkIn(memberOf(event, name), `/${name}`),
      null,
    );
  }
  if (!Object.hasOwn(event, "event_type")) return null;
  const payload = memberOf(event, "payload");
  const type = JSON.stringify(memberOf(event, "event_type") ?? null);
  return ERROR.test(type) ? linkIn(payload, "/payload") : linkInErrors(payload, "/payload", 0);
}

function linkIn(value: JsonValue | undefined, pointer: string): ContentFinding | null {
  const text = findInValue(value, pointer, (one) => LINK.exec(one)?.index);
  if (text === undefined) return null;
  return { kind: "links_in_errors", offset: text.found, part: text.pointer };
}

function linkInErrors(
  value: JsonValue | undefined,
  pointer: string,
  depth: number,
): ContentFinding | null {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return null;
  for (const [name, inner] of Object.entries(value)) {
    const found = ERROR.test(name)
      ? linkIn(inner, `${pointer}/*`)
      : linkInErrors(inner, `${pointer}/*`, depth + 1);
    if (found !== null) return found;
  }
  return null;
}
