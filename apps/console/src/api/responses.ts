import type { Classification } from "@countersign/core";

/** Which way an event travelled. */
export type Direction = "outbound" | "inbound";

/** A gateway of the log. */
export type GatewayFacts = {
  readonly id: string;
  readonly version: string;
  readonly started_at: number;
  readonly ready: boolean;
  readonly draining: boolean;
  readonly sessions: number;
  readonly runs_open: number;
  /** Absent in gateways of an older version. */
  readonly events_forwarded?: number;
  readonly events_blocked?: number;
};

/** `GET /v1/status`. */
export type Status = {
  readonly version: string;
  readonly gateway: string;
  readonly gateways: readonly GatewayFacts[];
  readonly started_at: number;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  readonly draining: boolean;
  readonly listeners: { readonly data: string; readonly control: string };
  readonly policy: {
    readonly name?: string;
    readonly hash: string;
    readonly mode: "observe" | "enforce";
    readonly stale: boolean;
  };
  readonly log: { readonly key: string };
  readonly store: { readonly kind: string; readonly entries?: number; readonly pending: number };
  readonly counts: {
    readonly sessions: number;
    readonly runs_open: number;
    readonly sockets_open: number;
    readonly events_forwarded: number;
    readonly events_blocked: number;
    readonly refusals: number;
    readonly receipts_appended: number;
  };
};

/** One run of `GET /v1/runs`. */
export type Run = {
  readonly session_id: string;
  readonly run_id: string;
  readonly gateway: string;
  readonly thread_id: string;
  readonly agent: string;
  readonly transport: string;
  readonly status: "running" | "finished" | "failed" | "stopped";
  readonly failure?: string;
  readonly started_at: number;
  readonly ended_at?: number;
  readonly forwarded: number;
  readonly blocked: number;
};

/** `GET /v1/runs`. */
export type Runs = {
  readonly runs: readonly Run[];
  readonly cursor?: string;
  readonly partial?: true;
};

/** One session of `GET /v1/sessions`. */
export type ChatSession = {
  readonly id: string;
  readonly gateways: readonly string[];
  readonly created_at: number;
  readonly last_seen: number;
  readonly forwarded: number;
  readonly blocked: number;
  readonly capabilities: number;
  readonly runs: readonly Omit<Run, "session_id">[];
};

/** `GET /v1/sessions`. */
export type ChatSessions = {
  readonly sessions: readonly ChatSession[];
  readonly cursor?: string;
  readonly partial?: true;
};

/** An error in a policy's text, with its position. */
export type PolicyIssue = {
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly suggestion?: string;
};

/** `GET /v1/policy`. */
export type Policy = {
  readonly name?: string;
  readonly hash: string;
  readonly mode: "observe" | "enforce";
  readonly stale: boolean;
  readonly issues: readonly PolicyIssue[];
  readonly reloads: { readonly ok: number; readonly failed: number };
  readonly files: readonly string[];
  readonly rules: readonly string[];
  readonly document: { readonly rules?: Readonly<Record<string, unknown>> } & Readonly<
    Record<string, unknown>
  >;
};

/** The effect of a change on the events that pass. */
export type Effect = "looser" | "stricter" | "both" | "same";

/** `POST /v1/policy/compare`. */
export type Comparison = {
  readonly verdict: Effect;
  readonly before: Pick<Policy, "name" | "hash" | "mode">;
  readonly after: Pick<Policy, "name" | "hash" | "mode">;
  readonly blocks: readonly {
    readonly block: string;
    readonly verdict: Effect;
    readonly changes: readonly {
      readonly setting: string;
      readonly kind: string;
      readonly effect: Effect;
      readonly says: string;
    }[];
  }[];
  readonly recorded?: {
    readonly judged: number;
    readonly newly_blocked: number;
    readonly newly_allowed: number;
  };
};

/** The receipt in a log entry. */
export type Receipt = {
  readonly id: string;
  readonly timestamp: number;
  readonly event_id: string;
  readonly agent_id: string;
  readonly session_id?: string;
  readonly capability_id: string;
  readonly event_type: string | { readonly custom: string };
  readonly target?: { readonly component_type: string; readonly component_id?: string };
  readonly classification: Classification;
  readonly transport: string;
  readonly allowed: boolean;
  readonly denial_reason?: string;
  readonly payload_hash: string;
  readonly kernel_key: string;
  readonly signature: string;
};

/** One entry of the log. */
export type Entry = {
  readonly seq: number;
  readonly receipt: Receipt;
  readonly direction: Direction;
  readonly run_id?: string;
  readonly thread_id?: string;
  readonly policy_hash: string;
  readonly mode: "observe" | "enforce";
  readonly rule?: string;
  readonly further_rules?: readonly string[];
  readonly received_at: number;
  readonly emitted_hash?: string;
};

/** `GET /v1/receipts`. */
export type Entries = { readonly entries: readonly Entry[]; readonly cursor?: string };

/** `GET /v1/explain`. */
export type Explanation = {
  readonly name: string;
  readonly kind: "rule" | "code";
  readonly means?: string;
  readonly title?: string;
  readonly remedy: string;
};

/** `GET /v1/receipts/counts`. */
export type Counts = {
  readonly counts: readonly {
    readonly count: number;
    readonly values: Readonly<Record<string, string | boolean | null>>;
  }[];
};

/** One decision of the live feed. */
export type FeedItem = {
  readonly seq: number;
  readonly receipt_id: string;
  readonly type: string;
  readonly direction: Direction;
  readonly agent_id: string;
  readonly session_id: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly event_type: string;
  readonly classification: Classification;
  readonly target?: { readonly component_type: string; readonly component_id?: string };
  readonly allowed: boolean;
  readonly mode: "observe" | "enforce";
  readonly rule?: string;
  readonly further_rules?: readonly string[];
  readonly denial_reason?: string;
  readonly received_at: number;
};
