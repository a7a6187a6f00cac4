import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentKind } from "./finding.js";
import { hasInvisibleSentence } from "./hidden-text.js";
import type { ContentSettings } from "./settings.js";

/** What a client says itself; the rest of a history is the agent's, and is held against what was delivered. */
const SPEAKERS: ReadonlySet<JsonValue> = new Set(["user", "tool"]);

/** What a client's request brings that the settings ask for. */
export function readRequest(
  input: JsonObject,
  { hidden, sources }: ContentSettings,
): ContentKind | null {
  const messages = listOf(input, "messages").filter((message) =>
    SPEAKERS.has(memberOf(message, "role") ?? null),
  );
  const contents = messages.map((message) => memberOf(message, "content") ?? null);
  if (hidden) {
    const said = [...contents, memberOf(input, "context"), memberOf(input, "tools")];
    if (said.some(holdsInvisible) || holdsInvisible(memberOf(input, "state"))) return "hidden";
  }
  if (!sources) return null;
  const parts = contents.flatMap((content) => (Array.isArray(content) ? content : []));
  return parts.some((part) => leadsInside(memberOf(part, "source"))) ? "sources" : null;
}

/** Depth is bounded where the request is parsed. */
function holdsInvisible(value: JsonValue | undefined): boolean {
  if (typeof value === "string") return hasInvisibleSentence(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsInvisible);
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

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function listOf(value: JsonObject, key: string): readonly JsonValue[] {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
}
