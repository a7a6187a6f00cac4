import { CLASSIFICATIONS } from "@countersign/core";

/** A filter of the log, by the names of the API. */
export type Filter = Readonly<Record<string, string>>;

/** Filters of the API that are typed in, in the order of the form. */
export const TEXTS = [
  ["id", "Receipt id"],
  ["agent_id", "Agent"],
  ["session_id", "Session"],
  ["run_id", "Run"],
  ["thread_id", "Thread"],
  ["rule", "Rule"],
  ["event_type", "Event"],
  ["target_type", "Target"],
  ["target_id", "Target id"],
  ["capability_id", "Capability"],
] as const;

/** Filters that are chosen. */
export const CHOICES: readonly (readonly [
  name: string,
  title: string,
  values: readonly (readonly [string, string])[],
])[] = [
  [
    "verdict",
    "Decision",
    [
      ["", "all"],
      ["allowed", "allowed"],
      ["noted", "would block"],
      ["blocked", "blocked"],
    ],
  ],
  [
    "classification",
    "Class",
    ["", ...CLASSIFICATIONS].map((name) => [name, name === "" ? "all" : name] as const),
  ],
  [
    "direction",
    "Direction",
    [
      ["", "both"],
      ["outbound", "to the client"],
      ["inbound", "to the agent"],
    ],
  ],
  [
    "mode",
    "Mode",
    [
      ["", "both"],
      ["enforce", "enforce"],
      ["observe", "observe"],
    ],
  ],
  [
    "transport",
    "Transport",
    [
      ["", "all"],
      ["sse", "sse"],
      ["websocket", "websocket"],
    ],
  ],
  [
    "order",
    "Order",
    [
      ["", "newest first"],
      ["oldest", "oldest first"],
    ],
  ],
];

/** Resource for seldom: shown with the rest of the form. */
export const WIDE: ReadonlySet<string> = new Set(["mode", "transport"]);

/** Filters by time, in milliseconds. */
export const TIMES = [
  ["since", "From"],
  ["until", "Until"],
] as const;

/** The API has two flags for what people call one verdict. */
export function withVerdict({ allowed, noted, ...rest }: Filter): Filter {
  if (allowed === "false") return { ...rest, verdict: "blocked" };
  if (noted === "true") return { ...rest, verdict: "noted" };
  return allowed === "true" ? { ...rest, verdict: "allowed" } : rest;
}

/** The same the other way round. */
export function withoutVerdict({ verdict, ...rest }: Filter): Filter {
  if (verdict === "blocked") return { ...rest, allowed: "false" };
  if (verdict === "noted") return { ...rest, noted: "true" };
  return verdict === "allowed" ? { ...rest, allowed: "true" } : rest;
}

/** A time of the API as a field of the form has it. */
export function localOf(milliseconds: string | undefined): string {
  if (milliseconds === undefined || !/^\d{1,15}$/u.test(milliseconds)) return "";
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
