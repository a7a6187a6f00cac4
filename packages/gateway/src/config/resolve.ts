import { dirname, resolve } from "node:path";
import type { UpstreamTarget } from "../agent/upstream.js";
import { resolveAccess } from "./access.js";
import { resolveCluster } from "./cluster.js";
import type { GatewayConfig } from "./config.js";
import { resolveControl } from "./control.js";
import { LISTENERS } from "./document.js";
import type { AgentBlock, ConfigDocument } from "./document.js";
import { resolveListenLimits } from "./listen-limits.js";
import { resolveLogs, resolveTracing, resolveWebhook } from "./outgoing.js";
import { expand, expandHeaders, invalid } from "./reading.js";
import type { Reading } from "./reading.js";
import { resolveTimestamps, resolveWitnesses } from "./witnesses.js";

const DATA_DIRECTORY = ".countersign";
const DAY_MS = 86_400_000;
/** Two bundles a second: a million entries in half an hour, half a megabyte a second. */
const SCRUB_RATE = 500;

/** Resolves a valid document: fills in defaults, paths and secrets. */
export function resolveConfig(document: ConfigDocument, options: Reading): GatewayConfig {
  const folder = dirname(resolve(options.file));
  const path = (value: string): string => resolve(folder, value);
  const { listen, receipts, capabilities } = document;
  const names = Object.keys(document.agents);
  const store = storeOf(receipts?.store, path, options);
  return {
    file: options.file,
    listen: {
      host: listen?.host ?? LISTENERS.data.host,
      port: listen?.port ?? LISTENERS.data.port,
      ...(listen?.heartbeat === undefined ? {} : { heartbeatMs: listen.heartbeat * 1000 }),
      ...(listen?.tls === undefined
        ? {}
        : { tls: { cert: path(listen.tls.cert), key: path(listen.tls.key) } }),
    },
    control: resolveControl(document.control ?? {}, LISTENERS.control, path, options),
    agents: names.map((name) => targetOf(name, document.agents[name] as AgentBlock, options)),
    defaultAgent: document.default_agent ?? (names[0] as string),
    policyFile: document.policy === undefined ? undefined : path(document.policy),
    origins: document.origins ?? [],
    access: resolveAccess(document.access, path),
    limits: resolveListenLimits(document.limits),
    receipts: {
      store,
      durability: receipts?.durability ?? "strict",
      sign: receipts?.sign ?? "each",
      origin: receipts?.origin ?? "countersign.local/log",
      toClients: receipts?.to_clients ?? "on_request",
      scrubRate: receipts?.scrub_rate ?? SCRUB_RATE,
      keepMs: durationOf(receipts?.keep),
      principal: receipts?.principal ?? "plain",
      clientAddress: receipts?.client_address ?? "plain",
      witnesses: resolveWitnesses(receipts?.witnesses),
      timestamps: resolveTimestamps(receipts?.timestamps, path),
    },
    evidence: evidenceOf(document, options),
    redis: resolveCluster(document.cluster, store, path, options),
    keyDirectory: path(document.keys?.directory ?? `${DATA_DIRECTORY}/keys`),
    issuers: capabilities?.issuers ?? [],
    chioKeys: Object.fromEntries(
      names.map((name) => [name, document.agents[name]?.chio_keys ?? []]),
    ),
    revocationFile:
      capabilities?.revocations === undefined ? undefined : path(capabilities.revocations),
    log: {
      level: document.log?.level ?? "info",
      format: document.log?.format ?? "auto",
      otlp: resolveLogs(document, options),
    },
    metrics: metricsOf(document.metrics),
    tracing: resolveTracing(document.tracing, options),
    webhook: resolveWebhook(document.webhook, options, path),
    threads: { keepMs: (document.threads?.keep_days ?? 30) * DAY_MS },
    shutdown: {
      delayMs: (document.shutdown?.delay ?? 0) * 1000,
      drainTimeoutMs: (document.shutdown?.drain_timeout ?? 30) * 1000,
    },
  };
}

function storeOf(
  written: string | undefined,
  path: (value: string) => string,
  options: Reading,
): string {
  if (written === undefined) return `sqlite:${path(`${DATA_DIRECTORY}/receipts`)}`;
  const store = expand(written, options, "/receipts/store");
  if (store.startsWith("sqlite:")) return `sqlite:${path(store.slice("sqlite:".length))}`;
  if (/^postgres(?:ql)?:\/\//u.test(store)) return store;
  const place = options.issue(
    "/receipts/store",
    "store is sqlite:DIRECTORY or a postgres:// address",
  );
  throw invalid(options.file, [place]);
}

const MAX_EVIDENCE_BYTES = 1_073_741_824;
const MAX_PAYLOAD_BYTES = 1_048_576;

function evidenceOf(
  { evidence: block, receipts }: ConfigDocument,
  options: Reading,
): GatewayConfig["evidence"] {
  if (block === undefined) return undefined;
  const keepMs = durationOf(block.keep) ?? 0;
  const receiptsMs = durationOf(receipts?.keep) ?? Number.POSITIVE_INFINITY;
  if (keepMs > receiptsMs) {
    const message = `a payload cannot be kept longer than its receipt (receipts.keep is ${receipts?.keep ?? ""})`;
    throw invalid(options.file, [options.issue("/evidence/keep", message)]);
  }
  return {
    keepMs,
    events: block.events ?? "blocked",
    maxBytes: block.max_bytes ?? MAX_EVIDENCE_BYTES,
    maxPayloadBytes: block.max_payload_bytes ?? MAX_PAYLOAD_BYTES,
  };
}

function metricsOf(block: ConfigDocument["metrics"] = {}): GatewayConfig["metrics"] {
  const { host = LISTENERS.metrics.host, port, names = [] } = block;
  return {
    isPublic: block.public ?? false,
    listener: port === undefined ? undefined : { host, port, names },
  };
}

/** The dialect for each name in the file: 1.1 only adds to 1.0. */
const DIALECTS: Readonly<Record<string, UpstreamTarget["dialect"]>> = {
  envelope: "chio",
  "1.1": "1.0",
};

function targetOf(name: string, block: AgentBlock, options: Reading): UpstreamTarget {
  const headers = expandHeaders(block.headers, options, `/agents/${name}/headers`);
  const dialect = block.dialect ?? "auto";
  return {
    name,
    url: new URL(block.url),
    transport: block.transport ?? "post-sse",
    headers,
    frames: block.frames ?? "json",
    dialect: DIALECTS[dialect] ?? (dialect as UpstreamTarget["dialect"]),
    profile: block.profile ?? "auto",
    ...(block.accept === undefined ? {} : { accept: block.accept }),
    forwardAuthorization: block.forward_authorization ?? false,
    answerTimeoutMs: (block.answer_timeout ?? 30) * 1000,
    idleTimeoutMs: (block.idle_timeout ?? 120) * 1000,
    ...(block.kind === "copilotkit-runtime"
      ? {
          runtime: {
            agents: block.runtime_agents ?? ["default"],
            routes: new Set(block.routes),
          },
        }
      : {}),
  };
}

const UNIT_MS = { h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of `90d` or `12h`, whose form the schema has checked. */
function durationOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return Number(text.slice(0, -1)) * UNIT_MS[text.endsWith("h") ? "h" : "d"];
}
