import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentFinding } from "./finding.js";
import { InvisibleSentences } from "./hidden-text.js";
import { findInValue, memberOf } from "./parts.js";
import type { ContentSettings } from "./settings.js";
import { contentsOf, sourceAddressOf } from "./sources.js";

const NO_HOSTS: ReadonlySet<string> = new Set();

/**
 * The findings in a client's request. Pure: with `sources: resolve` names were resolved before, and
 * `publicHosts` are those with public addresses.
 */
export function readRequest(
  input: JsonObject,
  { hidden, sources, resolvesSources }: ContentSettings,
  publicHosts: ReadonlySet<string> = NO_HOSTS,
): ContentFinding | null {
  const contents = contentsOf(input);
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
  return sources ? findSource(contents, resolvesSources ? publicHosts : undefined) : null;
}

function findSource(
  contents: readonly JsonValue[],
  publicHosts: ReadonlySet<string> | undefined,
): ContentFinding | null {
  const leadsInside = (source: JsonValue | undefined): boolean => {
    const address = sourceAddressOf(source);
    if (address?.kind !== "name") return address !== undefined;
    return publicHosts?.has(address.host) === false;
  };
  for (const [index, content] of contents.entries()) {
    const parts = Array.isArray(content) ? content : [];
    const at = parts.findIndex((part) => leadsInside(memberOf(part, "source")));
    if (at !== -1) return { kind: "sources", part: `/messages/${index}/content/${at}/source` };
  }
  return null;
}
