import { SILENT_JOURNAL, SYSTEM_CLOCK } from "../base/ports.js";
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
import { OPEN_ACCESS } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createAccessControl } from "../http/access-control.js";
import { createHeartbeats } from "../base/heartbeats.js";
import { Feed } from "../telemetry/feed.js";
import { DEFAULT_LISTEN_LIMITS } from "../base/limits.js";
import type { ListenLimits } from "../base/limits.js";
import { createDataPlane } from "../http/data-plane.js";
import type { Readiness, TlsOptions } from "../http/data-plane.js";
import type { Clock, Journal } from "../base/ports.js";
import type { Recorder } from "../event/recorder.js";
import { createWatchedRecorder } from "../outbound/record/watched-recorder.js";
import { createRefusalLog } from "../inbound/refusal-log.js";
import { SYSTEM_LOOKUP } from "../inbound/source-lookup.js";
import type { LookupHost } from "../inbound/source-lookup.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { createMemoryStore } from "../store/memory-store.js";
import type { SharedStreams } from "../http/resume/shared-streams.js";
import { Containment } from "../runs/containment.js";
import { createMint } from "../runs/mint.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { TokenVerifier } from "../access/capabilities.js";
import { ThreadAdmission } from "../inbound/thread-admission.js";
import type { LedgerPeers } from "../inbound/thread-locks.js";
import { Sessions } from "../sessions/sessions.js";
import { Identities } from "../event/client-identity.js";
import type { IdentityOptions } from "../event/client-identity.js";
import { createTelemetry } from "../telemetry/telemetry.js";
import type { Telemetry } from "../telemetry/telemetry.js";
import { watchLedger } from "../telemetry/watched-ledger.js";
import { createUpstream } from "../agent/connect.js";
import { createAgents } from "../agent/upstream.js";
import type { UpstreamTarget } from "../agent/upstream.js";

/** Options of {@link createGateway}. */
export type GatewayOptions = {
  readonly agents: readonly UpstreamTarget[];
  /** The agent for paths without a name; the first one when left out. */
  readonly fallbackAgent?: string;
  readonly policy: PolicyHolder;
  readonly recorder: Recorder;
  /** Whether clients get receipts; those that request them do when left out. */
  readonly receiptsToClients?: "on_request" | "never";
  /** How receipts, lists and log lines show principals and addresses; plain when left out. */
  readonly identities?: IdentityOptions;
  /** Stores threads; in memory when left out. */
  readonly ledger?: KeyedStore;
  readonly tokens?: TokenVerifier;
  /** Shares the counts of velocity caps with other gateways; in memory when left out. */
  readonly velocity?: CounterBookOptions["shared"];
  /** Stops runs at other gateways; left out for a single gateway. */
  readonly stopElsewhere?: GatewayContext["stopElsewhere"];
  /** The gateways that write to the same ledger; left out for a single gateway. */
  readonly ledgerPeers?: LedgerPeers;
  /** Lets every gateway of the log resume streams; left out, a stream is resumed at its own gateway only. */
  readonly openSharedStreams?: (
    context: GatewayContext,
    access: Pick<Access, "restore">,
    limits: ListenLimits,
  ) => SharedStreams;
  /** Whether Redis responds; left out where the gateway does not need it. */
  readonly isRedisUp?: () => boolean;
  /** Authenticates clients; every client is anonymous when left out. */
  readonly access?: Access;
  /** 32 secret bytes, the same at every gateway that accepts its tickets; random when left out. */
  readonly ticketKey?: Uint8Array;
  /** Limits of the listener; each has a default. */
  readonly listenLimits?: Partial<ListenLimits>;
  readonly origins?: readonly string[];
  readonly tls?: TlsOptions;
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
  /** Resolves a host name (`ag_ui_content.sources: resolve`); the system resolver when left out. */
  readonly lookupHost?: LookupHost;
  readonly journal?: Journal;
  readonly telemetry?: Telemetry;
  readonly heartbeatMs?: number;
};

/** A gateway; its listener is not bound yet. */
export type Gateway = {
  readonly dataPlane: Server;
  readonly context: GatewayContext;
  isReady(): boolean;
  /** The principal that owns a session; `undefined` if it has no owner. */
  ownerOf(sessionId: string): Promise<string | undefined>;
  /** Whether a client may still return that does not know how its run ended. */
  isAwaited(): boolean;
  /** Reports not ready, so that load balancers stop sending traffic; requests are still served. */
  leave(): void;
  /** Refuses new runs and reports not ready; open runs continue. */
  drain(): void;
  /** Ends every run with a final event and closes the connections to agents. */
  close(): Promise<void>;
};

/** Trusts no issuer: every token is rejected until one is configured. */
const NO_TOKENS: TokenVerifier = {
  evaluate: () => ({ id: "<unverified>", status: "untrusted_issuer", scopes: [] }),
  spend: () => {},
};

/** Creates a gateway from its parts. */
export function createGateway(options: GatewayOptions): Gateway {
  const clock = options.clock ?? SYSTEM_CLOCK;
  const books = new WeakMap<CompiledPolicy, CounterBook>();
  const upstreams = options.agents.map(createUpstream);
  const heartbeats = createHeartbeats(options.heartbeatMs);
  const recorder = createWatchedRecorder(options.recorder);
  const drain = { isLeaving: false, isDraining: false };
  const telemetry = options.telemetry ?? createTelemetry();
  const ledger = watchLedger(options.ledger ?? createMemoryStore(clock), clock, telemetry.ledger);
  const readiness = (): Readiness => {
    if (drain.isLeaving) return "stopping";
    // Both are called, so that each notices when its store is back.
    const [receipts, threads] = [recorder.isReady(), ledger.isReady()];
    if (!receipts) return "receipts unavailable";
    if (!threads) return "threads unavailable";
    return options.isRedisUp?.() === false ? "redis unavailable" : "ready";
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
    feed: new Feed(),
    heartbeats,
    journal: options.journal ?? SILENT_JOURNAL,
    telemetry,
    drain,
    containment: new Containment(ledger, { clock, journal: options.journal ?? SILENT_JOURNAL }),
    threadAdmission: new ThreadAdmission(ledger, clock, options.ledgerPeers),
    refusals: createRefusalLog(recorder, clock),
    identities: new Identities(options.identities),
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
  const sharedStreams = options.openSharedStreams?.(context, options.access ?? OPEN_ACCESS, {
    ...DEFAULT_LISTEN_LIMITS,
    ...options.listenLimits,
  });
  const accessControl = createAccessControl({
    clock,
    ledger,
    ticketKey: options.ticketKey,
    access: options.access,
    limits: options.listenLimits,
    sharedStreams,
  });
  const dataPlane = createDataPlane(context, {
    tls: options.tls,
    readiness,
    origins: new Set(options.origins ?? []),
    accessControl,
  });
  return {
    dataPlane: dataPlane.server,
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
      context.containment.close();
      heartbeats.stop();
      accessControl.close();
      for (const run of context.sessions.openRuns()) run.stop("the gateway is stopping");
      sharedStreams?.leave();
      await dataPlane.close();
      await sharedStreams?.close();
      for (const upstream of upstreams) upstream.close();
    },
  };
}
