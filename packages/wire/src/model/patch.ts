import type { JsonValue } from "@countersign/core";

/** One RFC 6902 operation; the object is open, unknown members are data. */
export type JsonPatchOperation =
  | { op: "add"; path: string; value: JsonValue }
  | { op: "remove"; path: string }
  | { op: "replace"; path: string; value: JsonValue }
  | { op: "move"; path: string; from: string }
  | { op: "copy"; path: string; from: string }
  | { op: "test"; path: string; value: JsonValue };

/** An RFC 6902 patch: applied whole or not at all. */
export type JsonPatch = JsonPatchOperation[];
