import type { Damage } from "@countersign/receipts/log";
import { AgentResults } from "./agent-health.js";
import { Histogram, Tally } from "./counters.js";
import type { LeaseFigures } from "../quota/leased-counts.js";
import type { Tracer } from "./tracer.js";

/** Seconds; the target is an added millisecond, so the buckets are finest around it. */
const LATENCY_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10,
];

/** The counters of an open run. */
export type OpenRun = {
  readonly backlog: { readonly size: number };
  readonly sink: {
    readonly transport: "sse" | "websocket";
    readonly isSlow: boolean;
    readonly isDisconnected?: boolean;
  };
};

/** Counters that the event pipeline increments and a scrape reads. */
export type Telemetry = {
  /** By agent and class. */
  readonly forwarded: Tally;
  /** By rule and class. */
  readonly blocked: Tally;
  readonly observed: Tally;
  /** By code. */
  readonly refusals: Tally;
  readonly accessFailures: Tally;
  readonly runsStarted: Tally;
  /** By agent and state. */
  readonly runsEnded: Tally;
  readonly runFailures: Tally;
  /** The last results of each agent. */
  readonly agents: AgentResults;
  /** By agent and note. */
  readonly repairs: Tally;
  readonly stripped: Tally;
  readonly openRuns: Set<OpenRun>;
  readonly receipts: { appended: number; failures: number; checkpointFailures: number };
  /** Entries that were verified again, the number of damaged ones, and the first of them. */
  readonly scrub: { checked: number; damages: number; first?: Damage };
  readonly ledger: { failures: number };
  /** Metrics of limits that gateways count together. */
  readonly velocity: LeaseFigures;
  /** The same of limits in Redis; `isDegraded` while this gateway counts them alone. */
  readonly shortVelocity: LeaseFigures & { losses: number; isDegraded: boolean };
  /** Open sockets, and queued client messages. */
  readonly sockets: { open: number; queued: number };
  /** Streams that a client resumed. */
  readonly reconnects: { taken: number };
  /**
   * Copies of this gateway's streams for others, those that lack something, streams of other gateways that clients
   * resumed here, and the results of such requests.
   */
  readonly sharedStreams: {
    readonly copies: number;
    readonly incomplete: number;
    readonly followed: number;
    readonly results: Tally;
  };
  readonly addedLatency: Histogram;
  readonly appendTime: Histogram;
  /** Only when an endpoint for traces is configured. */
  readonly tracer: Tracer | undefined;
};

/** Creates counters at zero. */
export function createTelemetry(tracer?: Tracer): Telemetry {
  return {
    forwarded: new Tally(),
    blocked: new Tally(),
    observed: new Tally(),
    refusals: new Tally(),
    accessFailures: new Tally(),
    runsStarted: new Tally(),
    runsEnded: new Tally(),
    runFailures: new Tally(),
    agents: new AgentResults(),
    repairs: new Tally(),
    stripped: new Tally(),
    openRuns: new Set(),
    receipts: { appended: 0, failures: 0, checkpointFailures: 0 },
    scrub: { checked: 0, damages: 0 },
    ledger: { failures: 0 },
    velocity: { waits: 0, failures: 0, isSilent: false },
    shortVelocity: { waits: 0, failures: 0, isSilent: false, losses: 0, isDegraded: false },
    sockets: { open: 0, queued: 0 },
    reconnects: { taken: 0 },
    sharedStreams: { copies: 0, incomplete: 0, followed: 0, results: new Tally() },
    addedLatency: new Histogram(LATENCY_BUCKETS),
    appendTime: new Histogram(LATENCY_BUCKETS),
    tracer,
  };
}
