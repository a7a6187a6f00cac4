import type { DialectRule } from "../note.js";

/** One way in which a framework's stream differs from the protocol, and what the gateway does about it. */
export type Deviation = {
  /** The deviating event that the framework sends. */
  readonly sends: string;
  /** How the stream is repaired, and the note that says so; absent where a repair would have to invent something. */
  readonly repair?: string;
  readonly note?: DialectRule;
};

/** Every known deviation, by its stable id. Each repair is safe for any stream, so that `auto` applies it on sight. */
export const DEVIATIONS = {
  "finish-run-id": {
    sends: "RUN_FINISHED with a run id of the framework's own",
    repair: "the id of the run that is open replaces it; the thread id must be right",
    note: "finish-run-id-replaced",
  },
  "thread-is-run": {
    sends: "RUN_STARTED and RUN_FINISHED with the requested run id as thread id",
    repair: "the requested thread id replaces it",
    note: "thread-id-replaced",
  },
  "repeated-start": {
    sends: "RUN_STARTED of the open run again, for each turn of the model",
    repair: "the second one is dropped",
    note: "repeated-start-dropped",
  },
  "repeated-call": {
    sends:
      "TOOL_CALL_START, _ARGS and _END of a call that the request's history has, before its result",
    repair: "they are dropped when name and arguments are those of the history",
    note: "repeated-call-dropped",
  },
  "finish-after-error": {
    sends: "RUN_FINISHED after RUN_ERROR",
    repair: "the finish is dropped: the error stands",
    note: "finish-after-error-dropped",
  },
  "early-finish": {
    sends: "RUN_FINISHED after each turn of the model, and then the rest of the run",
    repair:
      "a finish waits for the next event or the end of the stream; more events of the run show that it was early, and it is dropped",
    note: "early-finish-dropped",
  },
  "result-before-start": {
    sends: "TOOL_CALL_RESULT of an approved call before RUN_STARTED",
    repair: "the result waits for the start of the run and follows it",
    note: "early-result-moved",
  },
  "result-message-id": {
    sends: "TOOL_CALL_RESULT under the id of the message that made the call",
    repair: "the id of the call with `-result` behind it replaces the id of the message",
    note: "result-message-id-replaced",
  },
  "encrypted-value-of-step": {
    sends: "REASONING_ENCRYPTED_VALUE for a message, under the name of a step inside the reasoning",
    repair: "the id of the reasoning message that was open when the step started replaces the name",
    note: "encrypted-value-entity-replaced",
  },
  "result-without-call": {
    sends: "TOOL_CALL_RESULT of a call that was never announced, after an approval",
  },
} as const satisfies Readonly<Record<string, Deviation>>;

/** The stable id of a deviation. */
export type DeviationId = keyof typeof DEVIATIONS;

/** A deviation as one framework shows it, and where that is on record. */
export type ProfileRow = { readonly deviation: DeviationId; readonly source: string };

/** The known deviations of each framework; a framework without any is listed too. */
export const PROFILES = {
  langgraph: [
    {
      deviation: "finish-run-id",
      source: "@ag-ui/langgraph 0.0.43; github.com/ag-ui-protocol/ag-ui/issues/1279",
    },
    {
      deviation: "repeated-call",
      source:
        "@ag-ui/langgraph 0.0.43 (OnToolEnd); github.com/ag-ui-protocol/ag-ui/issues/2014 and 2515",
    },
  ],
  mastra: [
    {
      deviation: "result-without-call",
      source: "@ag-ui/mastra 1.1.2; github.com/ag-ui-protocol/ag-ui/issues/2668",
    },
  ],
  strands: [
    {
      deviation: "result-without-call",
      source: "ag-ui-strands 0.1.1; github.com/ag-ui-protocol/ag-ui/issues/1275",
    },
  ],
  tanstack: [
    {
      deviation: "early-finish",
      source: "@tanstack/ai 0.58.0 (stream-to-response: one RUN_FINISHED per iteration)",
    },
    {
      deviation: "repeated-start",
      source: "@tanstack/ai 0.58.0 (adapters start a run per iteration; the engine hides it)",
    },
    {
      deviation: "result-before-start",
      source: "@tanstack/ai 0.58.0 (the engine runs approved calls first)",
    },
    {
      deviation: "result-message-id",
      source: "@tanstack/ai 0.58.0 (the id of the iteration's message)",
    },
    {
      deviation: "encrypted-value-of-step",
      source: "@tanstack/ai 0.58.0 (normalizeStreamChunk takes the signature of STEP_FINISHED)",
    },
  ],
  "mcp-apps": [
    { deviation: "thread-is-run", source: "@ag-ui/mcp-apps-middleware 0.1.1 (proxied requests)" },
  ],
  voltagent: [{ deviation: "finish-after-error", source: "@voltagent/ag-ui 1.0.3" }],
  adk: [
    {
      deviation: "finish-after-error",
      source: "ag-ui-adk 0.6; github.com/ag-ui-protocol/ag-ui/issues/1892",
    },
  ],
  agentscope: [
    {
      deviation: "finish-after-error",
      source: "agentscope-java; github.com/agentscope-ai/agentscope-java/issues/2642",
    },
  ],
  llamaindex: [],
  agno: [],
} as const satisfies Readonly<Record<string, readonly ProfileRow[]>>;

/** A framework whose deviations are known. */
export type Framework = keyof typeof PROFILES;

/** Which deviations of an agent are repaired: every known one on sight, none, or those of one framework. */
export type EmitterProfile = "auto" | "strict" | Framework;

/** Every name that a configuration may choose. */
export const EMITTER_PROFILES: readonly EmitterProfile[] = [
  "auto",
  "strict",
  ...(Object.keys(PROFILES) as Framework[]),
];

/** The deviations that a profile repairs. */
export function deviationsOf(profile: EmitterProfile): ReadonlySet<DeviationId> {
  const known = BY_PROFILE.get(profile);
  if (known === undefined) {
    throw new TypeError(`profile must be one of ${EMITTER_PROFILES.join(", ")}`);
  }
  return known;
}

/** Each set once: every run asks for its own. */
const BY_PROFILE: ReadonlyMap<string, ReadonlySet<DeviationId>> = new Map([
  ["strict", new Set<DeviationId>()],
  ["auto", new Set(Object.keys(DEVIATIONS) as DeviationId[])],
  ...Object.entries(PROFILES).map(
    ([profile, rows]) => [profile, new Set(rows.map(({ deviation }) => deviation))] as const,
  ),
]);

const REPAIRS: ReadonlySet<string> = new Set(
  (Object.values(DEVIATIONS) as Deviation[]).flatMap(({ note }) => note ?? []),
);

/** Whether a note is about a repair, not about a translation. */
export function isRepair(rule: string): boolean {
  return REPAIRS.has(rule);
}
