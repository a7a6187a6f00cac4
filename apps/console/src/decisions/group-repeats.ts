import type { Decision } from "./decision.js";

/** Decisions of one run about the same thing with the same outcome, in the order of the list. */
export type Group = { readonly key: string; readonly decisions: readonly Decision[] };

/** A row of a list: a group, or one decision of a group that is open. */
export type Row = {
  readonly key: string;
  readonly decision: Decision;
  /** The size of the group that the row stands for; 1 for a decision alone. */
  readonly count: number;
  readonly isOpen: boolean;
  /** Part of an open group. */
  readonly isPart: boolean;
};

/** Groups decisions with the same verdict, rule, tool or event, principal and run. A group stands where its first decision stood. */
export function groupRepeats(decisions: readonly Decision[]): Group[] {
  const groups = new Map<string, Decision[]>();
  for (const decision of decisions) {
    const key = keyOf(decision);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [decision]);
    else group.push(decision);
  }
  return [...groups].map(([key, list]) => ({ key, decisions: list }));
}

function keyOf(decision: Decision): string {
  return JSON.stringify([
    decision.verdict,
    decision.rule,
    // Start, arguments and end of a call are about one tool.
    decision.tool === "" ? decision.event_type : decision.tool,
    decision.direction,
    decision.principal,
    decision.agent_id,
    decision.session_id,
    decision.run_id,
  ]);
}

/** The rows of a list; the decisions of an open group follow it. */
export function rowsOf(groups: readonly Group[], open: ReadonlySet<string>): Row[] {
  return groups.flatMap(({ key, decisions }) => {
    const [decision] = decisions;
    if (decision === undefined) return [];
    const isOpen = decisions.length > 1 && open.has(key);
    const head: Row = { key, decision, count: decisions.length, isOpen, isPart: false };
    return isOpen ? [head, ...decisions.map((one) => alone(one, true))] : [head];
  });
}

/** The rows of a list without groups. */
export function plainRows(decisions: readonly Decision[]): Row[] {
  return decisions.map((decision) => alone(decision, false));
}

function alone(decision: Decision, isPart: boolean): Row {
  return { key: String(decision.seq), decision, count: 1, isOpen: false, isPart };
}
