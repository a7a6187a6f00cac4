import type { GatewayFacts } from "@countersign/core";
import type { Gateway } from "./gateway.js";
import type { Fleet } from "../cluster/fleet.js";
import type { OpenPolicy } from "../control/ports.js";
import type { OpenEvidence } from "../control/ports.js";
import type { OpenReceipts } from "../control/ports.js";
import { attestingStatus } from "../control/attesting-status.js";
import { VERSION } from "../base/version.js";

/** Sources of the status, next to the gateway. */
export type StatusSources = {
  readonly gateway: Gateway;
  readonly policy: OpenPolicy;
  readonly receipts: OpenReceipts;
  readonly evidence: OpenEvidence | undefined;
  readonly startedAt: number;
  /** The name of this gateway in the fleet. */
  readonly gatewayName: string;
  readonly fleet: Fleet | undefined;
  listeners(): { readonly data: string; readonly control: string };
  /** `sqlite` or `postgres`; the URL may contain a password. */
  readonly storeKind: string;
};

/** Collects the status of a gateway. */
export async function readStatus(sources: StatusSources): Promise<object> {
  const { gateway, policy, receipts, startedAt } = sources;
  const { telemetry, sessions, clock, drain } = gateway.context;
  const { name, hash, mode } = policy.holder.current;
  return {
    version: VERSION,
    gateway: sources.gatewayName,
    gateways: await gatewaysOf(sources),
    started_at: startedAt,
    uptime_seconds: Math.max(0, Math.floor((clock.now() - startedAt) / 1000)),
    ready: gateway.isReady(),
    draining: drain.isLeaving,
    listeners: sources.listeners(),
    policy: { name, hash, mode, stale: policy.reloads.isStale },
    log: { key: receipts.logKey, ...attestingStatus(receipts.attesting) },
    store: {
      kind: sources.storeKind,
      ...(await sizeOf(receipts)),
      pending: receipts.log.pending,
      ...(telemetry.scrub.first === undefined ? {} : { damage: telemetry.scrub.first }),
    },
    ...(sources.evidence === undefined ? {} : { evidence: await evidenceStatus(sources.evidence) }),
    counts: {
      sessions: sessions.size,
      runs_open: telemetry.openRuns.size,
      sockets_open: telemetry.sockets.open,
      events_forwarded: telemetry.forwarded.total,
      events_blocked: telemetry.blocked.total,
      refusals: telemetry.refusals.total,
      receipts_appended: telemetry.receipts.appended,
    },
  };
}

/** The facts that a gateway publishes to the others. */
export function gatewayFacts(gateway: Gateway, startedAt: number): GatewayFacts {
  const { telemetry, sessions, drain } = gateway.context;
  return {
    version: VERSION,
    started_at: startedAt,
    ready: gateway.isReady(),
    draining: drain.isLeaving,
    sessions: sessions.size,
    runs_open: telemetry.openRuns.size,
    events_forwarded: telemetry.forwarded.total,
    events_blocked: telemetry.blocked.total,
  };
}

/** All live gateways, this one first; only this one while the others cannot be read. */
async function gatewaysOf(sources: StatusSources): Promise<object[]> {
  const { gateway, startedAt, gatewayName, fleet } = sources;
  const members = (await fleet?.members().catch(() => undefined)) ?? [];
  return [
    { id: gatewayName, ...gatewayFacts(gateway, startedAt) },
    ...members.map(({ id, facts }) => ({ id, ...facts })),
  ];
}

/** An unavailable store has no size; the rest of the status is then needed most. */
async function sizeOf(receipts: OpenReceipts): Promise<{ entries?: number; first_entry?: number }> {
  try {
    const { size } = await receipts.store.head();
    return { entries: size, first_entry: await receipts.store.first() };
  } catch {
    return {};
  }
}

async function evidenceStatus({ settings, figures, usage }: OpenEvidence): Promise<object> {
  const stored = await usage().catch(() => undefined);
  return {
    events: settings.events,
    keep_ms: settings.keepMs,
    max_bytes: settings.maxBytes,
    failing: figures.isFailing,
    kept: figures.kept,
    omitted: figures.omitted,
    dropped: figures.dropped,
    failed: figures.failed,
    ...stored,
  };
}
