import type { Limits } from "@countersign/core";
import type { CompiledPolicy, CounterBook } from "@countersign/policy";
import type { TokenVerifier } from "../access/capabilities.js";
import type { Journal, Clock, MintId } from "../base/ports.js";
import type { Containment } from "./containment.js";
import type { Heartbeats } from "../base/heartbeats.js";
import type { Feed } from "../telemetry/feed.js";
import type { OrderAnswer, StopOrder } from "../sessions/orders.js";
import type { RunLimits } from "../event/run-limits.js";
import type { Identities } from "../event/client-identity.js";
import type { Recorder } from "../event/recorder.js";
import type { Sessions } from "../sessions/sessions.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import type { Agents } from "../agent/upstream.js";
import type { RefusalLog } from "../inbound/refusal-log.js";
import type { LookupHost } from "../inbound/source-lookup.js";
import type { ThreadAdmission } from "../inbound/thread-admission.js";

/** Whether the gateway accepts new runs. */
type Drain = {
  /** The gateway is no longer ready: load balancers remove it, and requests that still arrive are served. */
  isLeaving: boolean;
  /** New runs are rejected. */
  isDraining: boolean;
};

/** The state that all runs of one gateway share. */
export type GatewayContext = {
  readonly agents: Agents;
  /** The policy for a run that starts now. */
  policy(): CompiledPolicy;
  book(policy: CompiledPolicy): CounterBook;
  readonly tokens: TokenVerifier;
  readonly recorder: Recorder;
  readonly sessions: Sessions;
  readonly feed: Feed;
  readonly heartbeats: Heartbeats;
  readonly journal: Journal;
  readonly telemetry: Telemetry;
  readonly drain: Drain;
  /** Agents that get no new runs. */
  readonly containment: Containment;
  /** Reviews requests against their threads. */
  readonly threadAdmission: ThreadAdmission;
  readonly refusals: RefusalLog;
  /** Shows the principal and the address of a client as the configuration says. */
  readonly identities: Identities;
  /** Whether clients that ask for the receipts of delivered events get them. */
  readonly givesReceipts: boolean;
  readonly limits: Limits;
  readonly runLimits: RunLimits;
  readonly clock: Clock;
  readonly mintId: MintId;
  readonly lookupHost: LookupHost;
  /** Stops runs at other gateways on the same database, if there are any. */
  readonly stopElsewhere?: ((order: StopOrder) => Promise<readonly OrderAnswer[]>) | undefined;
};
