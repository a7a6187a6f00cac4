import { CLASSIFICATIONS } from "@countersign/core";
import { VERDICT_LABELS } from "../api/verdict.js";
import type { Decision, DecisionField } from "./decision.js";

/**
 * A filter of decisions: columns by the names of the API, and `q`, `verdict`, `within`, `since`, `until`.
 * The address of a page holds it, with two settings of the list: `gateway`, and `grouped=no`.
 */
export type Filter = Readonly<Record<string, string>>;

/** A column that a filter can name. */
export type FilterField = {
  readonly name: DecisionField;
  readonly title: string;
  /** Fixed values; others come from the counts. */
  readonly values?: readonly string[];
};

/** The columns with a pick-list that is always in sight. */
export const MAIN_FIELDS: readonly FilterField[] = [
  { name: "rule", title: "Rule" },
  { name: "principal", title: "Principal" },
  { name: "tool", title: "Tool" },
  { name: "agent_id", title: "Agent" },
];

/** The other columns. */
export const MORE_FIELDS: readonly FilterField[] = [
  { name: "event_type", title: "Event type" },
  { name: "classification", title: "Class", values: CLASSIFICATIONS },
  { name: "direction", title: "Direction", values: ["outbound", "inbound"] },
  { name: "mode", title: "Mode", values: ["enforce", "observe"] },
  { name: "session_id", title: "Session" },
  { name: "run_id", title: "Run" },
  { name: "thread_id", title: "Thread" },
  { name: "client_address", title: "Client address" },
  { name: "path", title: "Path" },
  { name: "target_type", title: "Target" },
  { name: "target_id", title: "Target id" },
  { name: "transport", title: "Transport", values: ["sse", "websocket"] },
  { name: "capability_id", title: "Capability" },
  { name: "id", title: "Receipt id" },
];

/** All columns. */
export const FIELDS: readonly FilterField[] = [...MAIN_FIELDS, ...MORE_FIELDS];

/** Periods that end now, in milliseconds. */
export const PERIODS: readonly (readonly [value: string, title: string])[] = [
  ["900000", "last 15 minutes"],
  ["3600000", "last hour"],
  ["86400000", "last 24 hours"],
  ["604800000", "last 7 days"],
  ["2592000000", "last 30 days"],
];

const NAMES: ReadonlySet<string> = new Set([
  ...FIELDS.map(({ name }) => name),
  "q",
  "verdict",
  "within",
  "since",
  "until",
  "gateway",
  "grouped",
]);

/** The filter in an address; names and values that the console does not know are left out. */
export function filterOf(query: URLSearchParams): Filter {
  const filter: Record<string, string> = {};
  for (const [name, value] of query) if (NAMES.has(name) && value !== "") filter[name] = value;
  // Addresses from before the word `verdict`, and those that copy a query of the API.
  if (query.get("allowed") === "false") filter["verdict"] = "blocked";
  if (query.get("would_block") === "true") filter["verdict"] = "would_block";
  return filter;
}

/** The filter as parameters of the API. `now` is the end of a period. */
export function apiFilterOf(filter: Filter, now: number): Filter {
  const { verdict, within, gateway: _, grouped: __, ...rest } = filter;
  return {
    ...rest,
    ...(within === undefined || !/^\d{1,12}$/u.test(within)
      ? {}
      : { since: String(Math.max(0, Math.floor((now - Number(within)) / 1000) * 1000)) }),
    ...(verdict === "blocked" ? { allowed: "false" } : {}),
    ...(verdict === "would_block" ? { would_block: "true" } : {}),
    ...(verdict === "allowed" ? { allowed: "true", would_block: "false" } : {}),
  };
}

/** Whether a decision passes: every column equal, and the text anywhere in it. */
export function passesFilter(decision: Decision, filter: Filter): boolean {
  const { verdict, q, since, until } = filter;
  if (verdict !== undefined && decision.verdict !== verdict) return false;
  if (since !== undefined && decision.received_at < Number(since)) return false;
  if (until !== undefined && decision.received_at >= Number(until)) return false;
  for (const { name } of FIELDS) {
    const wanted = filter[name];
    if (wanted !== undefined && decision[name] !== wanted) return false;
  }
  return q === undefined || textOf(decision).includes(q.toLowerCase());
}

function textOf(decision: Decision): string {
  const columns = FIELDS.map(({ name }) => decision[name]);
  return [
    ...columns,
    decision.type,
    VERDICT_LABELS[decision.verdict],
    decision.denial_reason,
    ...decision.further_rules,
    String(decision.seq),
  ]
    .join("\n")
    .toLowerCase();
}

/** A part of a filter that an operator can remove. */
export type Chip = { readonly name: string; readonly title: string; readonly value: string };

/** The parts of a filter, in the order of the form. */
export function chipsOf(filter: Filter): Chip[] {
  const chips: Chip[] = [];
  const add = (name: string, title: string, value: string | undefined): void => {
    if (value !== undefined) chips.push({ name, title, value });
  };
  add("q", "contains", filter["q"]);
  add("verdict", "decision", labelOf(filter["verdict"]));
  for (const { name, title } of FIELDS) add(name, title.toLowerCase(), filter[name]);
  const period = PERIODS.find(([value]) => value === filter["within"]);
  add("within", "time", period?.[1] ?? filter["within"]);
  add("since", "from", localOf(filter["since"])?.replace("T", " "));
  add("until", "until", localOf(filter["until"])?.replace("T", " "));
  return chips;
}

function labelOf(verdict: string | undefined): string | undefined {
  const labels: Readonly<Record<string, string>> = VERDICT_LABELS;
  return verdict === undefined ? undefined : (labels[verdict] ?? verdict);
}

/** A time of the API as a form field has it. */
export function localOf(milliseconds: string | undefined): string | undefined {
  if (milliseconds === undefined || !/^\d{1,15}$/u.test(milliseconds)) return undefined;
  const moment = new Date(Number(milliseconds));
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16);
}

/** Converts a form field to the API's parameter. */
export function millisecondsOf(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? "" : String(time);
}
