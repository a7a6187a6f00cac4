import type { JsonValue } from "@countersign/core";

/** 1 network, 2 transport, 3 AG-UI: where a fault lives and where to look for it. */
export type Layer = 1 | 2 | 3;

/** How much a finding weighs: a note is worth knowing and never fails a check by itself. */
export type Severity = "error" | "warning" | "note";

/** What breaks a rule: events, the bytes of an SSE body, or an exchange told in words. */
export type Example =
  | { readonly events: readonly JsonValue[] }
  | { readonly sse: string }
  | { readonly text: string };

/** One rule; its page in `docs/rules/` is written from exactly this. */
export type Rule = {
  readonly layer: Layer;
  readonly severity: Severity;
  readonly title: string;
  /** What is wrong when the rule is broken. */
  readonly what: string;
  /** What happens to a user or a client because of it. */
  readonly why: string;
  /** How to mend it. */
  readonly mend: string;
  readonly example: Example;
};

/** The names of the layers, as reports print them. */
export const LAYER_NAMES: Readonly<Record<Layer, string>> = {
  1: "network",
  2: "transport",
  3: "AG-UI",
};
