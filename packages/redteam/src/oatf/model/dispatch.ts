import { ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { Path } from "../yaml/source.js";

/** A list of responses inside a state, with its place below the state. */
export type DispatchList = { readonly path: Path; readonly entries: readonly JsonValue[] };

const AT_TOP = ["sampling_responses", "elicitation_responses", "task_responses", "tool_responses"];
const IN_ITEMS = ["tools", "prompts"];

/**
 * The dispatch lists of a state. They stand at fixed places; keys of the same name deeper inside are the
 * protocol's own content.
 */
export function dispatchLists(state: unknown): DispatchList[] {
  const lists: DispatchList[] = [];
  for (const key of AT_TOP) {
    const entries = ownMember(state, key);
    if (Array.isArray(entries)) lists.push({ path: [key], entries });
  }
  for (const key of IN_ITEMS) {
    const items = ownMember(state, key);
    if (!Array.isArray(items)) continue;
    for (const [index, item] of items.entries()) {
      const entries = ownMember(item, "responses");
      if (Array.isArray(entries)) lists.push({ path: [key, index, "responses"], entries });
    }
  }
  return lists;
}
