import type { Classification, Direction, PolicyMode } from "./event.js";

/** The state of a run. */
export type ControlRunStatus = "running" | "finished" | "failed" | "stopped";

/** A run as the control API returns it. */
export type ControlRun = {
  readonly run_id: string;
  /** The gateway of the run. */
  readonly gateway: string;
  readonly thread_id: string;
  readonly agent: string;
  /** The principal that started it, or its keyed hash; absent for an anonymous one. */
  readonly principal?: string;
  /** The address of its client, or its keyed hash. */
  readonly client_address?: string;
  readonly transport: "sse" | "websocket";
  readonly status: ControlRunStatus;
  readonly failure?: string;
  readonly started_at: number;
  readonly ended_at?: number;
  readonly forwarded: number;
  readonly blocked: number;
};

/** A session as the control API returns it. */
export type ControlSession = {
  readonly id: string;
  /** The gateways that know the session. */
  readonly gateways: readonly string[];
  readonly created_at: number;
  readonly last_seen: number;
  readonly forwarded: number;
  readonly blocked: number;
  readonly capabilities: number;
  /** The principal of its newest run, or its keyed hash; absent for an anonymous one. */
  readonly principal?: string;
  /** The client address of its newest run, or its keyed hash. */
  readonly client_address?: string;
  readonly runs: readonly ControlRun[];
};

/** A gateway as the control API lists it, without its id. */
export type GatewayFacts = {
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

/** One decision of the live feed; never a payload. */
export type FeedItem = {
  seq: number;
  receipt_id: string;
  /** The AG-UI event type; for a client's request, `RUN_AGENT_INPUT` or `CLIENT_MESSAGE`. */
  type: string;
  direction: Direction;
  agent_id: string;
  session_id: string;
  thread_id: string;
  run_id: string;
  event_type: string;
  classification: Classification;
  target?: { readonly component_type: string; readonly component_id?: string };
  allowed: boolean;
  mode: PolicyMode;
  rule?: string;
  /** Other rules that would have blocked it as well. */
  further_rules?: readonly string[];
  denial_reason?: string;
  principal?: string;
  client_address?: string;
  /** The tool that the event is about. */
  tool?: string;
  /** JSON Pointer of the part that decided. */
  path?: string;
  received_at: number;
  forwarded: number;
  blocked: number;
};
