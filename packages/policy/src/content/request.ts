import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentFinding } from "./finding.js";
import { InvisibleSentences } from "./hidden-text.js";
import { findInValue, memberOf } from "./parts.js";
import type { ContentSettings } from "./settings.js";

/** What a client says itself; the rest of a history is the agent's, and is held against what was delivered. */
const SPEAKERS: ReadonlySet<JsonValue> = new Set(["user", "tool"]);

/** What a client's request brings that the settings ask for. */
export function readRequest(
  input: JsonObject,
  { hidden, sources }: ContentSettings,
): ContentFinding | null {
  const contents = listOf(input, "messages").map((message) =>
    SPEAKERS.has(memberOf(message, "role") ?? null) ? (memberOf(message, "content") ?? null) : null,
  );
  if (hidden) {
    const sentences = new InvisibleSentences();
    for (const [pointer, value] of [
      ...contents.map((content, index) => [`/messages/${index}/content`, content] as const),
      ...["context", "tools", "state"].map((key) => [`/${key}`, memberOf(input, key)] as const),
    ]) {
      const text = findInValue(value, pointer, (one) => sentences.isIn(one) || undefined);
      if (text !== undefined) return { kind: "hidden", part: text.pointer };
    }
  }
  return sources ? findSource(contents) : null;
}

function findSource(contents: readonly JsonValue[]): ContentFinding | null {
  for (const [index, content] of contents.entries()) {
    const parts = Array.isArray(content) ? content : [];
    const at = parts.findIndex((part) => leadsInside(memberOf(part, "source")));
    if (at !== -1) return { kind: "sources", part: `/messages/${index}/content/${at}/source` };
  }
  return null;
}

const INSIDE = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|corp|private)$/;
const NUMBERS = /^[\d.]+$/;

/**
 * Whether the address of a part is one that only a machine inside the agent's network can mean: no name, a name
 * without a dot, a name of local zones, a scheme that reads files. What a public name leads to nobody knows here.
 */
function leadsInside(source: JsonValue | undefined): boolean {
  if (memberOf(source, "type") !== "url") return false;
  const value = memberOf(source, "value");
  if (typeof value !== "string" || !URL.canParse(value)) return true;
  const { protocol, hostname, username } = new URL(value);
  if (protocol === "data:") return false;
  if (protocol !== "https:" && protocol !== "http:") return true;
  const host = hostname.replace(/\.$/, "");
  return (
    username !== "" ||
    !host.includes(".") ||
    host.startsWith("[") ||
    NUMBERS.test(host) ||
    INSIDE.test(host)
  );
}

function listOf(value: JsonObject, key: string): readonly JsonValue[] {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
}
