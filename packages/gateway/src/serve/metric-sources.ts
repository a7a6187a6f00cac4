import type { Server } from "node:net";
import type { Gateway } from "./gateway.js";
import type { Journal } from "../base/ports.js";
import type { OpenJournal } from "../telemetry/journal.js";
import type { MetricSources } from "../telemetry/metrics.js";
import type { ProcessMetrics } from "../telemetry/process-metrics.js";
import { VERSION } from "../base/version.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import type { OpenPolicy } from "../control/ports.js";
import type { OpenEvidence } from "../control/ports.js";
import type { OpenReceipts } from "../control/ports.js";
import type { OpenTokens } from "../control/ports.js";
import type { IssuerKeys } from "./open-access.js";
import type { OpenWebhook } from "./open-webhook.js";

/** The parts of a running gateway that metrics are read from. */
export type MetricParts = {
  readonly gateway: Gateway;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  readonly receipts: OpenReceipts;
  readonly evidence: OpenEvidence | undefined;
  readonly journal: Journal;
  readonly process: ProcessMetrics;
  readonly keySets: readonly IssuerKeys[];
  readonly webhook: OpenWebhook | undefined;
  readonly redis: RedisConnections | undefined;
};

/** Sources of the metrics that are read at scrape time instead of counted. */
export function metricSourcesOf(parts: MetricParts): MetricSources {
  const { gateway, policy, tokens, receipts, journal } = parts;
  const { sessions, drain } = gateway.context;
  return {
    version: VERSION,
    process: parts.process,
    isReady: () => gateway.isReady(),
    isDraining: () => drain.isLeaving,
    sessions: () => sessions.size,
    connections: () => connectionsOf(gateway.dataPlane),
    pending: () => receipts.log.pending,
    entries: async () => (await receipts.store.head()).size,
    indexed: () => receipts.indexed(),
    policy: () => {
      const { name = "", hash, mode } = policy.holder.current;
      return { name, hash, mode };
    },
    reloads: () => policy.reloads,
    revocations: () => tokens.revocations,
    suppressedLines: () => countIn(journal, "suppressed"),
    droppedLines: () => countIn(journal, "dropped"),
    exportedLines: () => ({
      exported: countIn(journal, "exportedLines"),
      dropped: countIn(journal, "lostLines"),
    }),
    evidence: () => parts.evidence?.figures,
    evidenceBytes: async () => (await parts.evidence?.usage())?.bytes,
    webhookEvents: () => parts.webhook?.events ?? { exported: 0, dropped: 0 },
    keySets: () => parts.keySets,
    redis: () => parts.redis,
  };
}

/** A caller's own journal may have no counters. */
function countIn(
  journal: Journal & Partial<OpenJournal>,
  name: "suppressed" | "dropped" | "exportedLines" | "lostLines",
): number {
  return journal[name] ?? 0;
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}
