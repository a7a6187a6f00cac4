import { METRICS } from "./catalogue.js";
import type { MetricFacts, MetricName } from "./catalogue.js";
import { writeHistogram, writeMetric } from "./exposition.js";
import type { Sample } from "./exposition.js";
import type { Histogram, Tally } from "./counters.js";
import type { ProcessMetrics } from "./process-metrics.js";
import type { EvidenceFigures } from "../evidence/keep-evidence.js";
import { attestingSamples } from "./attesting-metrics.js";
import type { AttestingFigures } from "./attesting-metrics.js";
import type { Telemetry } from "./telemetry.js";

/** Values that are read at the time of a scrape, because they are not counted. */
export type MetricSources = {
  readonly version: string;
  readonly process: ProcessMetrics;
  isReady(): boolean;
  isDraining(): boolean;
  sessions(): number;
  connections(): Promise<number>;
  pending(): number;
  entries(): Promise<number>;
  /** Entries that the index covers; `undefined` for a store without an index. */
  indexed(): Promise<number> | undefined;
  policy(): { readonly name: string; readonly hash: string; readonly mode: string };
  reloads(): { readonly ok: number; readonly failed: number; readonly isStale: boolean };
  revocations(): { readonly count: number; readonly isStale: boolean };
  suppressedLines(): number;
  droppedLines(): number;
  exportedLines(): Exported;
  webhookEvents(): Exported;
  /** The numbers of the evidence store; `undefined` where it is off. */
  evidence(): Readonly<EvidenceFigures> | undefined;
  evidenceBytes(): Promise<number | undefined>;
  /** Witnesses and timestamps of checkpoints. */
  attesting(): AttestingFigures;
  /** Issuers whose key set cannot be fetched, by name. */
  keySets(): readonly { readonly issuer: string; readonly isStale: boolean }[];
  /** The connections to Redis; `undefined` where there are none. */
  redis():
    | {
        readonly isUp: boolean;
        readonly isListening: boolean;
        readonly figures: { readonly failures: number; readonly reconnects: number };
      }
    | undefined;
};

/** Items that reached their receiver, and items that were lost. */
type Exported = { readonly exported: number; readonly dropped: number };

/** Writes the page of metrics; leaves out values that cannot be read now. */
export async function writeMetrics(telemetry: Telemetry, sources: MetricSources): Promise<string> {
  const known = await readSamples(telemetry, sources);
  const histograms: Partial<Record<MetricName, Histogram>> = {
    countersign_added_latency_seconds: telemetry.addedLatency,
    countersign_store_append_seconds: telemetry.appendTime,
  };
  let page = "";
  for (const [name, facts] of Object.entries(METRICS) as [MetricName, MetricFacts][]) {
    const histogram = histograms[name];
    page +=
      histogram === undefined
        ? writeMetric(name, facts, known.get(name) ?? [])
        : writeHistogram(name, facts, histogram);
  }
  return page;
}

async function readSamples(
  telemetry: Telemetry,
  sources: MetricSources,
): Promise<Map<MetricName, readonly Sample[]>> {
  const { tracer, receipts, sockets, velocity, shortVelocity } = telemetry;
  const open = [...telemetry.openRuns];
  const [entries, connections, indexed, evidenceBytes] = await Promise.all([
    askedFor(sources.entries()),
    askedFor(sources.connections()),
    askedFor(sources.indexed() ?? sources.entries()),
    askedFor(sources.evidenceBytes()),
  ]);
  const { name, hash, mode } = sources.policy();
  const reloads = sources.reloads();
  const revocations = sources.revocations();
  return new Map<MetricName, readonly Sample[]>([
    ["countersign_info", [[[sources.version], 1]]],
    ["countersign_ready", one(Number(sources.isReady()))],
    ["countersign_draining", one(Number(sources.isDraining()))],
    ["countersign_events_forwarded_total", counts(telemetry.forwarded)],
    ["countersign_events_blocked_total", counts(telemetry.blocked)],
    ["countersign_events_observed_total", counts(telemetry.observed)],
    ["countersign_inbound_refusals_total", counts(telemetry.refusals)],
    ["countersign_access_failures_total", counts(telemetry.accessFailures)],
    ["countersign_runs_started_total", counts(telemetry.runsStarted)],
    ["countersign_runs_ended_total", counts(telemetry.runsEnded)],
    ["countersign_run_failures_total", counts(telemetry.runFailures)],
    ["countersign_repairs_total", counts(telemetry.repairs)],
    ["countersign_requests_stripped_total", counts(telemetry.stripped)],
    [
      "countersign_runs_open",
      ["sse", "websocket"].map((transport) => [
        [transport],
        open.filter(({ sink }) => sink.transport === transport).length,
      ]),
    ],
    ["countersign_sockets_open", one(sockets.open)],
    ["countersign_connections_open", one(connections)],
    ["countersign_sessions_known", one(sources.sessions())],
    ["countersign_clients_slow", one(open.filter(({ sink }) => sink.isSlow).length)],
    [
      "countersign_clients_away",
      one(open.filter(({ sink }) => sink.isDisconnected === true).length),
    ],
    ["countersign_reconnects_total", one(telemetry.reconnects.taken)],
    ["countersign_stream_copies", one(telemetry.sharedStreams.copies)],
    ["countersign_stream_copies_incomplete", one(telemetry.sharedStreams.incomplete)],
    ["countersign_followed_streams", one(telemetry.sharedStreams.followed)],
    ["countersign_remote_resumes_total", counts(telemetry.sharedStreams.results)],
    ["countersign_backlog_events", one(open.reduce((sum, run) => sum + run.backlog.size, 0))],
    ["countersign_socket_queue_messages", one(sockets.queued)],
    ["countersign_receipts_appended_total", one(receipts.appended)],
    ["countersign_store_append_failures_total", one(receipts.failures)],
    ["countersign_checkpoint_failures_total", one(receipts.checkpointFailures)],
    ["countersign_store_scrubbed_entries_total", one(telemetry.scrub.checked)],
    ["countersign_store_damages_total", one(telemetry.scrub.damages)],
    ["countersign_evidence_records_total", evidenceCounts(sources.evidence())],
    ["countersign_evidence_bytes", one(evidenceBytes)],
    ["countersign_ledger_failures_total", one(telemetry.ledger.failures)],
    ["countersign_velocity_waits_total", one(velocity.waits + shortVelocity.waits)],
    ["countersign_velocity_failures_total", one(velocity.failures + shortVelocity.failures)],
    ["countersign_velocity_stale", one(Number(velocity.isSilent || shortVelocity.isSilent))],
    ["countersign_velocity_degraded", one(Number(shortVelocity.isDegraded))],
    ["countersign_velocity_losses_total", one(shortVelocity.losses)],
    ["countersign_log_pending_entries", one(sources.pending())],
    ["countersign_store_entries", one(entries)],
    [
      "countersign_store_index_lag_entries",
      // The log may have grown between the two reads: an index is never ahead of it.
      one(
        entries === undefined || indexed === undefined ? undefined : Math.max(0, entries - indexed),
      ),
    ],
    ["countersign_policy_info", [[[name, hash, mode], 1]]],
    [
      "countersign_policy_reloads_total",
      [
        [["ok"], reloads.ok],
        [["failed"], reloads.failed],
      ],
    ],
    ["countersign_policy_stale", one(Number(reloads.isStale))],
    ["countersign_revocations", one(revocations.count)],
    ["countersign_revocations_stale", one(Number(revocations.isStale))],
    [
      "countersign_key_sets_stale",
      sources.keySets().map(({ issuer, isStale }) => [[issuer], Number(isStale)]),
    ],
    ...attestingSamples(sources.attesting()),
    ...redisSamples(sources.redis()),
    ["countersign_log_lines_suppressed_total", one(sources.suppressedLines())],
    ["countersign_log_lines_dropped_total", one(sources.droppedLines())],
    ["countersign_trace_spans_total", exports(tracer)],
    ["countersign_log_records_total", exports(sources.exportedLines())],
    ["countersign_webhook_events_total", exports(sources.webhookEvents())],
    ...sources.process.read(),
  ]);
}

function redisSamples(
  redis: ReturnType<MetricSources["redis"]>,
): readonly (readonly [MetricName, readonly Sample[]])[] {
  if (redis === undefined) return [];
  const { isUp, isListening, figures } = redis;
  return [
    [
      "countersign_redis_up",
      [
        [["commands"], Number(isUp)],
        [["signals"], Number(isListening)],
      ],
    ],
    ["countersign_redis_failures_total", one(figures.failures)],
    ["countersign_redis_reconnects_total", one(figures.reconnects)],
  ];
}

function one(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [[[], value]];
}

function evidenceCounts(figures: Readonly<EvidenceFigures> | undefined): readonly Sample[] {
  if (figures === undefined) return [];
  return (["kept", "omitted", "dropped", "failed"] as const).map((result) => [
    [result],
    figures[result],
  ]);
}

function exports({ exported, dropped }: Exported = NOTHING_EXPORTED): readonly Sample[] {
  return [
    [["exported"], exported],
    [["dropped"], dropped],
  ];
}

const NOTHING_EXPORTED: Exported = { exported: 0, dropped: 0 };

function counts(tally: Tally): readonly Sample[] {
  return [...tally.entries()].map(([first, second, count]) => [[first, second], count]);
}

/** When the store is down, the page must still show that. */
async function askedFor(answer: Promise<number | undefined>): Promise<number | undefined> {
  try {
    return await answer;
  } catch {
    return undefined;
  }
}
