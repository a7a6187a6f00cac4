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
  readonly log: {
    readonly key: string;
    /** Absent without witnesses. */
    readonly witnesses?: Witnesses;
    /** Absent without a timestamp authority. */
    readonly timestamps?: {
      readonly size?: number;
      readonly dated_at?: number;
      readonly authority?: string;
      readonly failing?: string;
    };
  };
  readonly store: { readonly kind: string; readonly entries?: number; readonly pending: number };
  /** Absent where no payloads are kept. */
  readonly evidence?: {
    readonly events: "blocked" | "all";
    readonly keep_ms: number;
    readonly max_bytes: number;
    readonly failing: boolean;
    readonly dropped: number;
    readonly failed: number;
    readonly records?: number;
    readonly bytes?: number;
  };
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

/** The witnesses of the log, and the newest checkpoint that they cosigned. */
export type Witnesses = {
  readonly threshold: number;
  readonly newest?: {
    readonly size: number;
    readonly cosigned_at: number;
    readonly names: readonly string[];
    readonly enough: boolean;
  };
  readonly unwitnessed_ms: number;
  readonly late: boolean;
  readonly list: readonly {
    readonly name: string;
    readonly vkey: string;
    readonly failing?: string;
    readonly contradicts?: { readonly size: number; readonly proven: boolean };
  }[];
};

/** One run of `GET /v1/runs`. */
export type Run = ControlRun &
  Pick<Identity, "principal" | "client_address"> & { readonly session_id: string };

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
  /** The source, if it is one file. */
  readonly text?: string;
  /** The file that an apply writes. */
  readonly file?: string;
  /** Whether the gateway can write the file. */
  readonly writable?: boolean;
  /** The line of each rule, where it is known. */
  readonly lines?: Readonly<Record<string, number>>;
  readonly rules: readonly string[];
  readonly document: { readonly rules?: Readonly<Record<string, unknown>> } & Readonly<
    Record<string, unknown>
  >;
};

/** A policy that was active. */
export type PolicyVersion = {
  readonly hash: string;
  readonly applied_at: number;
  readonly operator: string;
  readonly source: string;
  readonly comment?: string;
  readonly text?: string;
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

/** Who and what a decision was about. */
type Identity = {
  readonly principal?: string;
  readonly client_address?: string;
  readonly tool?: string;
  readonly path?: string;
};

/** One entry of the log. */
export type Entry = Readonly<LogEntry> & Identity;

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

/** How to allow an event: lines to add, or the reason for their absence. */
export type Opening =
  | { readonly policy: string }
  | { readonly config: string }
  | { readonly closed: string }
  | { readonly passes: string };

type NameMeaning = {
  readonly name: string;
  readonly openings: readonly { readonly about?: string; readonly opening: Opening }[];
};

/** `GET /v1/receipts/{seq}/explanation`. */
export type EntryMeaning = {
  readonly rules: readonly NameMeaning[];
  /** The event, where the policy opens it by its name. */
  readonly named?: NameMeaning;
};

/** `GET /v1/receipts/counts`. */
export type Counts = {
  readonly counts: readonly {
    readonly count: number;
    /** The start of the time bucket, when time was split. */
    readonly from?: number;
    readonly values: Readonly<Record<string, string | boolean | null>>;
  }[];
};

/** One decision of the live feed. */
export type FeedItem = Readonly<Omit<ControlFeedItem, "forwarded" | "blocked">> & Identity;

/** `GET /v1/agents`. */
export type Agents = { readonly items: readonly AgentState[]; readonly partial?: true };

/** An agent as the gateway sees it. */
export type AgentState = {
  readonly name: string;
  /** Viewers get the host only. */
  readonly url: string;
  readonly health: "ok" | "failing" | "unknown";
  readonly open_runs: number;
  readonly last_success_at?: number;
  readonly recent_failures: readonly {
    readonly at: number;
    readonly code: string;
    readonly reason: string;
  }[];
  /** An operator stopped it; it gets no new runs. */
  readonly contained?: { readonly operator: string; readonly at: number };
};

/** `GET /v1/stop-all`. */
export type StopAll = {
  readonly agents: readonly string[];
  readonly runs: readonly Run[];
  readonly partial?: true;
};

/** `GET /v1/capabilities`. Times are in seconds. */
export type Capabilities = {
  readonly items: readonly Capability[];
  readonly cursor?: string;
};

/** A token that this gateway issued. */
export type Capability = {
  readonly id: string;
  readonly agent: string;
  readonly session?: string;
  readonly principal?: string;
  readonly scopes: readonly string[];
  readonly max_events?: number;
  readonly remaining?: number;
  readonly expires_at: number;
  readonly issued_at: number;
  readonly operator: string;
  readonly revoked: boolean;
};
