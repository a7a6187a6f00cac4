import type {
  ControlRun,
  ControlSession,
  FeedItem as ControlFeedItem,
  GatewayFacts,
  PolicyMode,
} from "@countersign/core";
import type { LogEntry } from "@countersign/receipts/verify";

/** A gateway of the log. */
type ControlGateway = GatewayFacts & { readonly id: string };

/** `GET /v1/status`. */
export type Status = {
  readonly version: string;
  readonly gateway: string;
  readonly gateways: readonly ControlGateway[];
  readonly started_at: number;
  readonly uptime_seconds: number;
  readonly ready: boolean;
  readonly draining: boolean;
  readonly listeners: { readonly data: string; readonly control: string };
  readonly policy: {
    readonly name?: string;
    readonly hash: string;
    readonly mode: PolicyMode;
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
export type Run = ControlRun & { readonly session_id: string };

/** `GET /v1/runs`. */
export type Runs = {
  readonly runs: readonly Run[];
  readonly cursor?: string;
  readonly partial?: true;
};

/** One session of `GET /v1/sessions`. */
export type ChatSession = ControlSession;

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
  readonly mode: PolicyMode;
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

/** One entry of the log. */
export type Entry = Readonly<LogEntry>;

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
export type FeedItem = Readonly<Omit<ControlFeedItem, "forwarded" | "blocked">>;
