import { SILENT_JOURNAL } from "../base/journal.js";
import { resolveLimits } from "@countersign/core";
import type { Limits } from "@countersign/core";
import { createCounterBook } from "@countersign/policy";
import type {
  CompiledPolicy,
  CounterBook,
  CounterBookOptions,
  PolicyHolder,
} from "@countersign/policy";
import type { Server } from "node:net";
import type { Access } from "../access/access.js";
import { createAccessControl } from "../http/access-control.js";
import { createHeartbeats, HEARTBEAT_MS, MAX_UNREAD_BEATS } from "../base/heartbeats.js";
import { Feed } from "../telemetry/feed.js";
import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import type { ListenLimits } from "../base/limits.js";
import { createDataPlane } from "../http/data-plane.js";
import type { Readiness, TlsOptions } from "../http/data-plane.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import type { Clock } from "../base/ports.js";
import type { Recorder } from "../event/recorder.js";
import { createWatchedRecorder } from "../outbound/record/watched-recorder.js";
import { createRefusalLog } from "../inbound/refusal-log.js";
import { SYSTEM_LOOKUP } from "../inbound/source-lookup.js";
import type { LookupHost } from "../inbound/source-lookup.js";
import type { ThreadLedger } from "../thread/ledger.js";
import { createMemoryLedger } from "../thread/memory-ledger.js";
import { createRelayListener } from "../cluster/relay-listener.js";
import { Relays } from "../cluster/relays.js";
import type { RelayOptions } from "../cluster/relays.js";
import { createMint } from "../runs/mint.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { TokenVerifier } from "../access/capabilities.js";
import type { Journal } from "../base/journal.js";
import { ThreadAdmission } from "../runs/thread-admission.js";
import { Sessions } from "../sessions/sessions.js";
import { Threads } from "../sessions/thread.js";
import { noteRefusal } from "../runs/run-watch.js";
import { createTelemetry } from "../telemetry/telemetry.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { watchLedger } from "../telemetry/watched-ledger.js";
import { createUpstream } from "../agent/connect.js";
import { createAgents } from "../agent/targets.js";
import type { UpstreamTarget } from "../agent/upstream.js";

/** What a gateway is made of. */
export type GatewayOptions = {
  readonly agents: readonly UpstreamTarget[];
  /** The agent that paths without a name mean; the first one when left out. */
  readonly fallbackAgent?: string;
  readonly policy: PolicyHolder;
  readonly recorder: Recorder;
  /** Whether clients get the receipts of what they are shown; those that ask do when left out. */
  readonly receiptsToClients?: "on_request" | "never";
  /** Where threads are remembered; in this process alone when left out. */
  readonly ledger?: ThreadLedger;
  readonly tokens?: TokenVerifier;
  /** Where caps over time are counted together with other gateways; in this process alone when left out. */
  readonly velocity?: CounterBookOptions["shared"];
  /** Ends runs at other gateways; left out where there are none. */
  readonly stopElsewhere?: GatewayContext["stopElsewhere"];
  /** How streams of clients that come back to another gateway of the log are had; left out where there are no others. */
  readonly relay?: RelayOptions;
  /** Who may connect; everybody when left out. */
  readonly access?: Access;
  /** 32 secret bytes that gateways have in common which take each other's tickets; fresh ones when left out. */
  readonly ticketKey?: Uint8Array;
  /** Bounds of the listener; what is left out has its default. */
  readonly listenLimits?: Partial<ListenLimits>;
  readonly origins?: readonly string[];
  readonly tls?: TlsOptions;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  /** Finds the addresses of a name (`ag_ui_content.sources: resolve`); the machine's resolver when left out. */
  readonly lookupHost?: LookupHost;
  readonly journal?: Journal;
  readonly telemetry?: Telemetry;
  readonly heartbeatMs?: number;
};

/** A gateway; its listener is not bound yet. */
export type Gateway = {
  readonly dataPlane: Server;
  /** Where other gateways ask for streams. */
  readonly relayPlane: Server | undefined;
  readonly context: GatewayContext;
  isReady(): boolean;
  /** The principal that owns a session; `undefined` where nobody does. */
  ownerOf(sessionId: string): Promise<string | undefined>;
  /** Whether a client is expected back to whom it was not yet told how its run ended. */
  isAwaited(): boolean;
  /** Is no longer ready, so that load balancers look elsewhere; what still comes is served. */
  leave(): void;
  /** Takes no more runs and is no longer ready; what is open goes on. */
  drain(): void;
  /** Ends every run honestly and lets go of the agents. */
  close(): Promise<void>;
};

/** Trusts no issuer: every token is refused until one is configured. */
const NO_TOKENS: TokenVerifier = {
  evaluate: () => ({ id: "<unverified>", status: "untrusted_issuer", scopes: [] }),
  spend: () => {},
};

/** Puts a gateway together. */
export function createGateway(options: GatewayOptions): Gateway {
  const clock = options.clock ?? SYSTEM_CLOCK;
  const books = new WeakMap<CompiledPolicy, CounterBook>();
  const upstreams = options.agents.map(createUpstream);
  const heartbeats = createHeartbeats(options.heartbeatMs);
  const recorder = createWatchedRecorder(options.recorder);
  const drain = { isLeaving: false, isDraining: false };
  const telemetry = options.telemetry ?? createTelemetry();
  const ledger = watchLedger(options.ledger ?? createMemoryLedger(clock), clock, telemetry.ledger);
  const readiness = (): Readiness => {
    if (drain.isLeaving) return "stopping";
    // Both are asked, so that both find out when they are back.
    const [receipts, threads] = [recorder.isReady(), ledger.isReady()];
    if (!receipts) return "receipts unavailable";
    return threads ? "ready" : "threads unavailable";
  };
  const isReady = (): boolean => readiness() === "ready";
  const context: GatewayContext = {
    agents: createAgents(upstreams, options.fallbackAgent),
    policy: () => options.policy.current,
    book: (policy) => {
      let book = books.get(policy);
      if (book === undefined) {
        book = createCounterBook(
          policy.limits,
          options.velocity === undefined ? {} : { shared: options.velocity },
        );
        books.set(policy, book);
      }
      return book;
    },
    tokens: options.tokens ?? NO_TOKENS,
    recorder,
    sessions: new Sessions(clock),
    threads: new Threads(),
    feed: new Feed(),
    heartbeats,
    journal: options.journal ?? SILENT_JOURNAL,
    telemetry,
    drain,
    threadAdmission: new ThreadAdmission(ledger, clock),
    refusals: createRefusalLog(recorder, clock),
    givesReceipts: options.receiptsToClients !== "never",
    limits: resolveLimits({
      maxEventValues: options.listenLimits?.eventValues,
      ...options.limits,
    } as Partial<Limits>),
    runLimits: { ...DEFAULT_LISTEN_LIMITS, ...options.listenLimits },
    clock,
    mintId: createMint(clock),
    lookupHost: options.lookupHost ?? SYSTEM_LOOKUP,
    stopElsewhere: options.stopElsewhere,
  };
  const { relay, heartbeatMs = HEARTBEAT_MS } = options;
  const accessControl = createAccessControl({
    clock,
    ledger,
    ticketKey: options.ticketKey,
    access: options.access,
    limits: options.listenLimits,
    onRefused: (error) => noteRefusal(context, error),
    createStreamKey: relay === undefined ? undefined : () => relay.names.create(),
    openRelays: ({ relays: allowed }) => {
      const { journal } = context;
      const idleMs = heartbeatMs * MAX_UNREAD_BEATS;
      return relay && new Relays(relay, { telemetry, journal, allowed, idleMs });
    },
  });
  const dataPlane = createDataPlane(context, {
    tls: options.tls,
    readiness,
    origins: new Set(options.origins ?? []),
    accessControl,
  });
  const relayPlane = relay && createRelayListener(context, accessControl, relay.key);
  return {
    dataPlane: dataPlane.server,
    relayPlane: relayPlane?.server,
    context,
    isReady,
    ownerOf: (sessionId) => accessControl.owners.ownerOf(sessionId),
    isAwaited: () => accessControl.resumableStreams.isAwaited,
    leave: () => {
      drain.isLeaving = true;
    },
    drain: () => {
      drain.isLeaving = true;
      drain.isDraining = true;
    },
    close: async () => {
      drain.isDraining = true;
      heartbeats.stop();
      accessControl.close();
      for (const run of context.sessions.openRuns()) run.stop("the gateway is stopping");
      await Promise.all([dataPlane.close(), relayPlane?.close()]);
      for (const upstream of upstreams) upstream.close();
    },
  };
}
