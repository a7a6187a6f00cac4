import type { Server as HttpServer } from "node:http";
import { join } from "node:path";
import type { AddressInfo, Server } from "node:net";
import type { Server as TlsServer } from "node:tls";
import type { JsonObject } from "@countersign/core";
import { exportPrivateKeyPem } from "@countersign/core/sign";
import type { ReplaceResult } from "@countersign/policy";
import type { EntryDraft } from "@countersign/receipts/log";
import { inspectAccess } from "./inspect-access.js";
import { openAccess } from "./open-access.js";
import { conditionsOf, openWebhook, readWebhookSecrets } from "./open-webhook.js";
import { deriveSealKey } from "../access/ticket-seal.js";
import type { GatewayConfig } from "../config/config.js";
import { createOperatorActs } from "../control/operator-acts.js";
import { createControlApp } from "../control/app.js";
import { PolicyChanges } from "../control/policy-changes.js";
import { openPolicyHistory } from "../control/policy-history.js";
import { readConsoleFiles } from "../control/console-files.js";
import type { ConsoleFiles } from "../control/console-files.js";
import { openFleetStore } from "../cluster/fleet-store.js";
import { Fleet } from "../cluster/fleet.js";
import { createGatewayName, nameSuffix } from "../cluster/gateway-name.js";
import { createGateway } from "./gateway.js";
import { SILENT_JOURNAL, SYSTEM_CLOCK } from "../base/ports.js";
import type { Gateway, GatewayOptions } from "./gateway.js";
import {
  createControlListener,
  createMetricsListener,
  followTls,
  openTls,
} from "./open-listeners.js";
import { openOperatorAccess } from "./open-operators.js";
import { keepRecorded } from "../evidence/keep-evidence.js";
import type { Recorder } from "../event/recorder.js";
import { findExposedKeys } from "../keys/exposed-keys.js";
import { findKey, openAdminToken, openKey } from "../keys/key-directory.js";
import { findSecretKey, openSecretKey } from "../keys/secret-key.js";
import { IDENTITY_KEY } from "../event/client-identity.js";
import type { IdentityOptions } from "../event/client-identity.js";
import type { Journal } from "../base/ports.js";
import { writeMetrics } from "../telemetry/metrics.js";
import { watchProcess } from "../telemetry/process-metrics.js";
import { createTelemetry } from "../telemetry/telemetry.js";
import { createTracer } from "../telemetry/tracer.js";
import type { Tracer } from "../telemetry/tracer.js";
import { VERSION } from "../base/version.js";
import { NOTHING_MISSING } from "./own-log.js";
import type { AcceptedMissing } from "./own-log.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import { drainGateway } from "./drain.js";
import type { DrainResult } from "./drain.js";
import { metricSourcesOf } from "./metric-sources.js";
import { openPolicy } from "./open-policy.js";
import type { OpenPolicy, OpenReceipts, OpenTokens } from "../control/ports.js";
import { openEvidenceStore } from "./open-evidence.js";
import { openLedger } from "./open-ledger.js";
import { openReceipts } from "./open-receipts.js";
import { openSharedRedis } from "./open-shared-redis.js";
import { openTokens } from "./open-tokens.js";
import { openVelocity } from "./open-counts.js";
import { listen } from "../http/listener.js";
import { keepReceiptsFor } from "./retention.js";
import { followFiles, reloadPolicy } from "./reloading.js";
import { gatewayFacts, readStatus } from "./status.js";

/** A gateway that listens. */
export type RunningGateway = {
  readonly gateway: Gateway;
  readonly receipts: OpenReceipts;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  readonly dataUrl: string;
  readonly controlUrl: string;
  /** The URL of the metrics on a listener of their own, if there is one. */
  readonly metricsUrl: string | undefined;
  /** The URL of the web console, if it is served. */
  readonly consoleUrl: string | undefined;
  /** The admin token, only at the first start of this key directory. */
  readonly freshAdminToken: string | undefined;
  /** Reloads the policy file, logs the result and signs a receipt for it. */
  reloadPolicy(cause: "file" | "signal"): ReplaceResult;
  /** Lets open runs end within the configured time, then closes. */
  drain(hasten?: AbortSignal): Promise<DrainResult>;
  close(): Promise<void>;
};

/** Options that are not part of the configuration file. */
export type ServeOptions = {
  readonly journal?: Journal;
  /** The folder of the built web console; without it there is none. */
  readonly consoleDirectory?: string;
  /** Parts that may be missing next to the log at this start; none when left out. */
  readonly acceptedMissing?: AcceptedMissing;
};

/** How soon a gateway stops an agent that an operator stopped at another one, in milliseconds. */
const CONTAINMENT_MS = 1000;

/** Closes what was opened, the last part first. */
type Opened = { add(close: () => unknown): void; close(): Promise<void> };

function createOpened(): Opened {
  const closers: (() => unknown)[] = [];
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    for (const close of closers.toReversed()) await close();
  };
  return {
    add: (close) => void closers.push(close),
    close: () => (closing ??= closeAll()),
  };
}

/** Opens everything the configuration names and binds both listeners. */
export async function startGateway(
  config: GatewayConfig,
  options: ServeOptions = {},
): Promise<RunningGateway> {
  const opened = createOpened();
  try {
    return await openGateway(config, options, opened);
  } catch (error) {
    // A used port must not leave a locked store behind.
    await opened.close();
    throw error;
  }
}

async function openGateway(
  config: GatewayConfig,
  options: ServeOptions,
  opened: Opened,
): Promise<RunningGateway> {
  const journal = options.journal ?? SILENT_JOURNAL;
  const startedAt = SYSTEM_CLOCK.now();
  const telemetry = createTelemetry(openTracer(config, journal));
  opened.add(() => telemetry.tracer?.close());
  const policy = openPolicy(config.policyFile);
  const { heartbeatMs } = config.listen;
  // Before anything is created or locked.
  const tls = openTls(config.listen.tls);
  const controlTls = openTls(config.control.tls);
  if (config.webhook !== undefined) readWebhookSecrets(config.webhook);
  const admin = await openAdminToken(config.keyDirectory);
  // A broken key is reported before anything is locked; a new one is created only for our own log.
  const issuer = await findKey(config.keyDirectory, "issuer");
  const { acceptedMissing = NOTHING_MISSING } = options;
  const receipts = await openReceipts(config, telemetry, journal, acceptedMissing);
  opened.add(() => receipts.log.close());
  const { size: entries } = await receipts.store.head();
  const acceptsMissing = acceptedMissing.has("ledger");
  const ledger = await openLedger(config, SYSTEM_CLOCK, { entries, acceptsMissing });
  opened.add(() => ledger.close());
  const gatewayName = createGatewayName();
  const redis = await openSharedRedis(config, journal);
  opened.add(() => redis?.close());
  const tokens = await openTokens(config, SYSTEM_CLOCK, journal, ledger, gatewayName, redis);
  opened.add(() => tokens.close());
  // Gateways of one log share one set of keys, and therefore accept each other's tickets.
  const issuerPem = exportPrivateKeyPem(issuer ?? (await openKey(config.keyDirectory, "issuer")));
  const ticketKey = deriveSealKey(issuerPem, "tickets");
  const orderKey = deriveSealKey(issuerPem, "orders");
  const fleet = await openFleet(config, gatewayName, journal, orderKey, redis);
  opened.add(() => fleet?.close());
  const openSharedStreams = await findSharedStreams(redis, gatewayName, issuerPem);
  const velocity = await openVelocity(config, {
    gateway: gatewayName,
    ledger,
    clock: SYSTEM_CLOCK,
    journal,
    telemetry,
    redis,
  });
  opened.add(() => velocity.close());
  const evidence = await openEvidenceStore(config, {
    policy: () => policy.holder.current,
    clock: SYSTEM_CLOCK,
    journal,
  });
  opened.add(() => evidence?.close());
  const { attesting } = receipts;
  opened.add(() => attesting.close(() => receipts.log.checkpoint()));
  const recorder: Recorder = {
    appendAll: (drafts) => appendWitnessed(receipts, drafts),
    // Signing a checkpoint writes to the store, so it shows whether the store is back.
    probe: async () => {
      attesting.assertWitnessed();
      await receipts.log.checkpoint();
    },
    writer: fleet && nameSuffix(gatewayName),
  };
  const { access, keySets } = openAccess(config.access, SYSTEM_CLOCK, journal);
  const gateway = createGateway({
    agents: config.agents,
    fallbackAgent: config.defaultAgent,
    policy: policy.holder,
    recorder: evidence === undefined ? recorder : keepRecorded(recorder, evidence.keeper),
    ledger,
    ...(fleet === undefined
      ? {}
      : {
          stopElsewhere: (order) => fleet.stop(order),
          ledgerPeers: {
            gateway: gatewayName,
            heartbeatAge: (name) => fleet.heartbeatAge(name),
          },
        }),
    ...(openSharedStreams === undefined ? {} : { openSharedStreams }),
    ...(redis?.options.whenDown === "refuse" ? { isRedisUp: () => redis.isUp } : {}),
    origins: config.origins,
    access,
    ticketKey,
    receiptsToClients: config.receipts.toClients,
    identities: await openIdentities(config),
    listenLimits: config.limits,
    journal,
    telemetry,
    tokens: tokens.verifier,
    velocity: (limit) => velocity.of(limit),
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(tls === undefined ? {} : { tls: tls.options }),
  });
  const webhook = openWebhook(config.webhook, {
    clock: SYSTEM_CLOCK,
    journal,
    source: { gateway: gatewayName, log: config.receipts.origin },
    feed: gateway.context.feed,
    conditions: () => conditionsOf({ gateway, policy, tokens, telemetry, keySets, attesting }),
  });
  // Closed after the gateway, whose last runs may still be blocked.
  opened.add(() => webhook?.close());
  opened.add(() => gateway.close());
  const { containment, sessions } = gateway.context;
  await containment.open(fleet === undefined ? undefined : CONTAINMENT_MS, redis);
  if (fleet === undefined) {
    for (const { session, at, ...handed } of await tokens.records.readHanded()) {
      sessions.addToken(session, handed, at);
    }
  }
  if (config.receipts.keepMs !== undefined) {
    const retention = keepReceiptsFor(config.receipts.keepMs, receipts, gateway.context);
    opened.add(() => retention.stop());
  }
  const watched = watchProcess();
  opened.add(() => watched.stop());
  const parts = {
    gateway,
    policy,
    tokens,
    receipts,
    evidence,
    journal,
    process: watched,
    keySets,
    webhook,
    redis,
  };
  const sources = metricSourcesOf(parts);
  const listeners = {
    data: () => urlOf(gateway.dataPlane, config.listen.host, tls === undefined ? "http" : "https"),
    control: () => urlOf(control, config.control.host, controlTls === undefined ? "http" : "https"),
  };
  const console = openConsole(config, options.consoleDirectory, journal);
  const metrics = (): Promise<string> => writeMetrics(telemetry, sources);
  const clockAndJournal = { clock: SYSTEM_CLOCK, journal };
  const operators = openOperatorAccess(config, admin, listeners.control, clockAndJournal);
  const policyHistory = openPolicyHistory(
    join(config.keyDirectory, "policy-history.jsonl"),
    journal,
  );
  const policyChanges = new PolicyChanges({
    policy,
    history: policyHistory,
    clock: SYSTEM_CLOCK,
    reload: (source) => reloadPolicy(policy, journal, source),
  });
  const reload = (cause: "file" | "signal"): ReplaceResult => {
    // No operator can have a name in angle brackets.
    const acts = createOperatorActs(gateway.context, { name: `<${cause}>` });
    return policyChanges.reload({ acts, source: cause }).result;
  };
  const app = createControlApp({
    console,
    gateway,
    receipts,
    evidence,
    policy,
    tokens,
    ...operators,
    gatewayName,
    fleet,
    policyChanges,
    policyHistory,
    metrics,
    isMetricsPublic: config.metrics.isPublic,
    host: config.control.host,
    status: () =>
      readStatus({
        ...parts,
        startedAt,
        gatewayName,
        fleet,
        storeKind: config.receipts.store.startsWith("sqlite:") ? "sqlite" : "postgres",
        listeners: () => ({ data: listeners.data(), control: listeners.control() }),
      }),
  });
  const control = createControlListener(app.fetch, config, controlTls?.options);
  const { listener: metricsAt } = config.metrics;
  const metricsListener =
    metricsAt === undefined ? undefined : createMetricsListener(metrics, metricsAt, config.limits);
  for (const server of [control, metricsListener]) {
    if (server !== undefined) opened.add(() => closeAtOnce(server));
  }
  const files = followFiles({ ...parts, onPolicyChange: () => void reload("file") });
  opened.add(() => files.stop());
  for (const [listener, server, openedTls] of [
    ["listen", gateway.dataPlane, tls],
    ["control", control, controlTls],
  ] as const) {
    if (openedTls === undefined) continue;
    const watch = followTls(server as TlsServer, openedTls, { listener, journal });
    opened.add(() => watch.stop());
  }
  const facts = (): JsonObject => gatewayFacts(gateway, startedAt);
  await fleet?.start(gateway.context.sessions, gatewayName, facts);
  await listen(gateway.dataPlane, config.listen.port, config.listen.host);
  await listen(control, config.control.port, config.control.host);
  if (metricsListener !== undefined && metricsAt !== undefined) {
    await listen(metricsListener, metricsAt.port, metricsAt.host);
  }
  await admin.keep();
  webhook?.start();
  attesting.start();
  for (const { file, mode, rights } of findExposedKeys(config.keyDirectory)) {
    journal.warn(
      { code: "KEY_EXPOSED", file, mode },
      `a key file or its directory can be ${rights} by other users of this machine`,
    );
  }
  // An issuer may come up later than the gateway: the start does not fail, but logs it.
  const warn = (reason: string): void =>
    journal.warn({ reason }, "credentials cannot be verified for now");
  inspectAccess(config.access).then(
    ({ away }) => away.forEach(warn),
    (error: unknown) => warn((error as Error).message),
  );
  return {
    gateway,
    receipts,
    policy,
    tokens,
    dataUrl: listeners.data(),
    controlUrl: listeners.control(),
    metricsUrl:
      metricsListener === undefined || metricsAt === undefined
        ? undefined
        : `${urlOf(metricsListener, metricsAt.host, "http")}/metrics`,
    consoleUrl: console === undefined ? undefined : `${listeners.control()}/console`,
    freshAdminToken: admin.fresh,
    reloadPolicy: reload,
    drain: async (hasten = new AbortController().signal) => {
      const result = await drainGateway(gateway, config.shutdown, hasten);
      await opened.close();
      return result;
    },
    close: () => opened.close(),
  };
}

/** Appends unless witnesses are demanded and did not cosign in time. */
function appendWitnessed(
  { log, attesting }: OpenReceipts,
  drafts: readonly EntryDraft[],
): ReturnType<OpenReceipts["log"]["appendAll"]> {
  try {
    attesting.assertWitnessed();
  } catch (error) {
    return Promise.reject(error as Error);
  }
  attesting.witnessing?.noteAppend();
  return log.appendAll(drafts);
}

/** A console that was not built does not fail the start. */
function openConsole(
  { control }: GatewayConfig,
  directory: string | undefined,
  journal: Journal,
): ConsoleFiles | undefined {
  if (!control.console || directory === undefined) return undefined;
  const files = readConsoleFiles(directory);
  if (files === undefined) {
    journal.warn({ code: "CONSOLE_MISSING" }, "the console was not built: npm run build");
  }
  return files;
}

/** `undefined` for a gateway with its own store. */
async function openFleet(
  { receipts }: GatewayConfig,
  gateway: string,
  journal: Journal,
  sealKey: Uint8Array,
  redis: RedisConnections | undefined,
): Promise<Fleet | undefined> {
  if (receipts.store.startsWith("sqlite:")) return undefined;
  const store = await openFleetStore({ url: receipts.store, name: receipts.origin, gateway });
  return new Fleet(store, journal, sealKey, redis);
}

/** `undefined` without Redis. */
async function findSharedStreams(
  redis: RedisConnections | undefined,
  gateway: string,
  issuerPem: string,
): Promise<GatewayOptions["openSharedStreams"]> {
  if (redis === undefined) return undefined;
  const { RedisStreams } = await import("../cluster/redis-streams.js");
  const keys = {
    names: deriveSealKey(issuerPem, "streams"),
    frames: deriveSealKey(issuerPem, "frames"),
    signals: deriveSealKey(issuerPem, "signals"),
  };
  return (context, access, limits) =>
    new RedisStreams({ redis, gateway, keys }, context, access, limits);
}

/** The key is created when it is first needed; an existing one finds hashes of earlier configurations. */
async function openIdentities({ receipts, keyDirectory }: GatewayConfig): Promise<IdentityOptions> {
  const { principal, clientAddress } = receipts;
  const isHashed = principal === "hashed" || clientAddress === "hashed";
  const open = isHashed ? openSecretKey : findSecretKey;
  return { principal, clientAddress, key: await open(keyDirectory, IDENTITY_KEY) };
}

/** `undefined` when tracing is off: no timer, no queue, no header. */
function openTracer({ tracing }: GatewayConfig, journal: Journal): Tracer | undefined {
  if (tracing === undefined) return undefined;
  const { endpoint, headers, service } = tracing;
  return createTracer({
    endpoint,
    headers,
    resource: { "service.name": service, "service.version": VERSION },
    onFailure: (reason, spans) =>
      journal.warn({ code: "TRACES_DROPPED", reason, spans }, "the collector did not accept spans"),
  });
}

/** The connections of operators and scrapers have nothing to finish. */
function closeAtOnce(server: HttpServer): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => void server.close(() => resolve()));
}

function urlOf(server: Server, host: string, scheme: string): string {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
