import type { PolicyIssue, PolicyIssueCode } from "./issue.js";

/** A position in a file, counted from 1. */
export type Position = { readonly line: number; readonly column: number };

/** The position of each value and key of a document, by JSON Pointer. */
export type PositionTable = {
  readonly file: string;
  readonly values: ReadonlyMap<string, Position>;
  readonly keys: ReadonlyMap<string, Position>;
};

/** The first character of a file. */
export const START: Position = Object.freeze({ line: 1, column: 1 });

/** Appends one segment to a JSON Pointer. */
export function childPointer(pointer: string, key: string | number): string {
  const segment = String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  return `${pointer}/${segment}`;
}

/**
 * An issue at the value (or the key) of a pointer; falls back to the nearest parent with a
 * position.
 */
export function issueAt(
  positions: PositionTable,
  pointer: string,
  code: PolicyIssueCode,
  message: string,
  detail: { key?: string; suggestion?: string } = {},
): PolicyIssue {
  const place =
    (detail.key === undefined
      ? undefined
      : positions.keys.get(childPointer(pointer, detail.key))) ?? nearest(positions, pointer);
  return { code, message, file: positions.file, ...place, path: pointer, ...detail };
}

function nearest(positions: PositionTable, pointer: string): Position {
  let at = pointer;
  for (;;) {
    const found = positions.values.get(at);
    if (found !== undefined) return found;
    if (at === "") return START;
    at = at.slice(0, at.lastIndexOf("/"));
  }
}
