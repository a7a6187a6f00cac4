import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import type { Document, YAMLMap } from "yaml";
import type { PolicyMode } from "./model.js";

/** The name of the whole document where a block is expected. */
export const WHOLE_POLICY = "policy";

/**
 * Changes the mode of one block, or of the whole policy, in the text of a policy file. Only the value, or one new line,
 * changes: comments, order and layout stay.
 *
 * @returns `undefined` when the text has no such block that can be edited, such as an inherited or an empty one
 */
export function setPolicyMode(text: string, block: string, mode: PolicyMode): string | undefined {
  const document = parseDocument(text, { version: "1.2", schema: "core", merge: false });
  if (document.errors.length > 0) return undefined;
  const map = block === WHOLE_POLICY ? document.contents : findBlock(document, block);
  if (!isMap(map)) return undefined;
  const known = map.items.find(({ key }) => isScalar(key) && key.value === "mode");
  if (known !== undefined) {
    if (!isScalar(known.value) || known.value.range === undefined) return undefined;
    const [start, end] = known.value.range ?? [0, 0];
    return start === end ? undefined : `${text.slice(0, start)}${mode}${text.slice(end)}`;
  }
  const first = map.items[0]?.key;
  if (!isScalar(first) || first.range === undefined || first.range === null) return undefined;
  const [start] = first.range;
  if (map.flow === true) return `${text.slice(0, start)}mode: ${mode}, ${text.slice(start)}`;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const indent = text.slice(lineStart, start);
  // A key behind `- ` or `? ` does not begin its line.
  if (indent.trim() !== "") return undefined;
  return `${text.slice(0, start)}mode: ${mode}\n${indent}${text.slice(start)}`;
}

/** Blocks are below `rules`, or at the top of a short policy. */
function findBlock(document: Document, block: string): YAMLMap | undefined {
  if (!block.startsWith("ag_ui")) return undefined;
  for (const path of [["rules", block], [block]]) {
    const found = document.getIn(path, true);
    if (isMap(found)) return found;
  }
  return undefined;
}

/**
 * The line of each rule in the text of a policy file: of its own entry where it has a name, else of the setting or the
 * block it comes from. Rules of other files have none.
 */
export function linesOfRules(
  text: string,
  rules: readonly string[],
): Readonly<Record<string, number>> {
  const counter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: counter,
    version: "1.2",
    schema: "core",
    merge: false,
  });
  if (document.errors.length > 0) return {};
  const lines: [string, number][] = [];
  for (const rule of rules) {
    const dot = rule.indexOf(".");
    const [block, rest] = dot === -1 ? [rule, ""] : [rule.slice(0, dot), rule.slice(dot + 1)];
    const offset = offsetOf(document, block, rest);
    if (offset !== undefined) lines.push([rule, counter.linePos(offset).line]);
  }
  return Object.fromEntries(lines);
}

function offsetOf(document: Document, block: string, name: string): number | undefined {
  for (const parent of [document.get("rules"), document.contents]) {
    if (!isMap(parent)) continue;
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === block);
    if (pair === undefined || !isScalar(pair.key)) continue;
    const listed: unknown = isMap(pair.value) ? pair.value.get("rules") : undefined;
    const items = (listed as { items?: readonly unknown[] } | undefined)?.items ?? [];
    const own = items.find((item) => isMap(item) && item.get("id") === name);
    const setting = isMap(pair.value)
      ? pair.value.items.find(({ key }) => isScalar(key) && key.value === name)?.key
      : undefined;
    const node = (own ?? setting ?? pair.key) as { range?: readonly number[] | null };
    return node.range?.[0];
  }
  return undefined;
}
