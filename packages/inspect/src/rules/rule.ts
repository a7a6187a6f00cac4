import type { JsonValue } from "@countersign/core";

/** The layer of a violation: 1 network, 2 transport, 3 AG-UI. */
export type Layer = 1 | 2 | 3;

/** The severity of a finding; a note alone never fails a check. */
export type Severity = "error" | "warning" | "note";

/** An example that violates a rule: events, the bytes of an SSE body, or an exchange in words. */
export type Example =
  | { readonly events: readonly JsonValue[] }
  | { readonly sse: string }
  | { readonly text: string };

/** One rule; `docs/rules/` has a page generated from it. */
export type Rule = {
  readonly layer: Layer;
  readonly severity: Severity;
  readonly title: string;
  /** The violation. */
  readonly what: string;
  /** The effect on a user or a client. */
  readonly why: string;
  /** The fix, as an instruction. */
  readonly fix: string;
  readonly example: Example;
};

/** The names of the layers, as reports print them. */
export const LAYER_NAMES: Readonly<Record<Layer, string>> = {
  1: "network",
  2: "transport",
  3: "AG-UI",
};
