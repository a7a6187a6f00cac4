import type { ReactNode } from "react";
import type { Classification } from "@countersign/core";
import { VERDICT_LABELS } from "../api/verdict.js";
import type { Verdict } from "../api/verdict.js";

const SIGNS: Readonly<Record<Verdict, string>> = { allowed: "✓", blocked: "✕", would_block: "!" };

/** A verdict as colour, sign and label. */
export function VerdictBadge({ verdict }: { readonly verdict: Verdict }): ReactNode {
  return (
    <span className={`badge ${verdict}`}>
      <span aria-hidden="true">{SIGNS[verdict]} </span>
      {VERDICT_LABELS[verdict]}
    </span>
  );
}

/** The class of an event: its effect on the screen. */
export function ClassBadge({ name }: { readonly name: Classification }): ReactNode {
  return <span className="badge class">{name}</span>;
}

const STATES: ReadonlyMap<string, string> = new Map([
  ["running", "running"],
  ["finished", "allowed"],
  ["failed", "blocked"],
  ["stopped", "would_block"],
  ["ready", "allowed"],
  ["not ready", "blocked"],
  ["draining", "would_block"],
  ["enforce", "enforce"],
  ["observe", "would_block"],
  ["ok", "allowed"],
  ["attention", "would_block"],
  ["failing", "blocked"],
  ["valid", "allowed"],
  ["revoked", "blocked"],
]);

/** The state of a run, a gateway or a policy. */
export function StateBadge({ name }: { readonly name: string }): ReactNode {
  return <span className={`badge ${STATES.get(name) ?? "class"}`}>{name}</span>;
}
