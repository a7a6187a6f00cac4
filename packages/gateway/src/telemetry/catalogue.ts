/**
 * One metric as operators know it; docs/reference/metrics.md has the same table, and a test compares them.
 */
export type MetricFacts = {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
};

const counter = (help: string, ...labels: string[]): MetricFacts => ({
  type: "counter",
  help,
  labels,
});
const gauge = (help: string, ...labels: string[]): MetricFacts => ({ type: "gauge", help, labels });
const histogram = (help: string): MetricFacts => ({ type: "histogram", help, labels: [] });

/** All metrics. */
export const METRICS = {
  countersign_info: gauge("Always 1; the version is a label", "version"),
  countersign_ready: gauge(
    "1 while decisions can be recorded, threads remembered and new runs are taken",
  ),
  countersign_draining: gauge("1 from the signal to stop on"),
  countersign_events_forwarded_total: counter(
    "Events forwarded, by agent and class",
    "agent",
    "class",
  ),
  countersign_events_blocked_total: counter(
    "Events withheld or refused, by rule and class",
    "rule",
    "class",
  ),
  countersign_events_observed_total: counter(
    "Events forwarded that a rule in observe mode would block",
    "rule",
    "class",
  ),
  countersign_inbound_refusals_total: counter(
    "Requests and messages of clients refused, by code",
    "code",
  ),
  countersign_access_failures_total: counter(
    "Connections and requests without leave, by code",
    "code",
  ),
  countersign_runs_started_total: counter("Runs whose agent answered", "agent"),
  countersign_runs_ended_total: counter("Runs ended, by how they ended", "agent", "state"),
  countersign_run_failures_total: counter("Runs that ended in an error of theirs or ours", "code"),
  countersign_repairs_total: counter(
    "Known deviations of an agent's framework that were repaired, by note",
    "agent",
    "note",
  ),
  countersign_requests_stripped_total: counter(
    "Requests from which the gateway removed keys or content parts that AG-UI does not define",
    "agent",
  ),
  countersign_runs_open: gauge("Runs open now", "transport"),
  countersign_sockets_open: gauge("WebSockets open now, with or without a run"),
  countersign_connections_open: gauge("TCP connections on the data plane"),
  countersign_sessions_known: gauge("Sessions remembered"),
  countersign_clients_slow: gauge("Runs whose client does not read fast enough"),
  countersign_clients_away: gauge("Runs that wait for a client that lost its connection"),
  countersign_reconnects_total: counter("Streams that a client took up where it lost them"),
  countersign_stream_copies: gauge("Streams of this gateway that others can resume from Redis"),
  countersign_stream_copies_incomplete: gauge(
    "Streams of which Redis lacks events or the end; above 0 for long, Redis does not respond",
  ),
  countersign_followed_streams: gauge("Streams of other gateways that clients read here"),
  countersign_remote_resumes_total: counter(
    "Streams of other gateways: taken, gone, failed, refused (changed in Redis), lost (ended for a gateway that is gone)",
    "result",
  ),
  countersign_backlog_events: gauge("Events that wait for their receipt, over all runs"),
  countersign_socket_queue_messages: gauge("Messages of browsers that wait for their receipt"),
  countersign_added_latency_seconds: histogram(
    "Time from the arrival of bytes to their delivery, receipt included",
  ),
  countersign_receipts_appended_total: counter("Receipts made durable"),
  countersign_store_append_failures_total: counter("Flushes of receipts that the store refused"),
  countersign_checkpoint_failures_total: counter("Checkpoints of the log that could not be signed"),
  countersign_store_scrubbed_entries_total: counter(
    "Entries of the log that were read again in the background",
  ),
  countersign_store_damages_total: counter(
    "Places of the log that are not what was signed for, found in the background",
  ),
  countersign_witnessed_entries: gauge(
    "Entries that the newest checkpoint with enough cosignatures covers",
  ),
  countersign_witnessed_checkpoint_age_seconds: gauge(
    "Age of the newest checkpoint with enough cosignatures",
  ),
  countersign_unwitnessed_seconds: gauge(
    "Time for which the log has had entries that no witnessed checkpoint covers",
  ),
  countersign_unwitnessed: gauge("1 while that time is longer than receipts.witnesses.max_age"),
  countersign_witness_submissions_total: counter("Checkpoints sent to a witness", "witness"),
  countersign_witness_failures_total: counter(
    "Checkpoints that a witness did not cosign",
    "witness",
  ),
  countersign_witness_failing: gauge(
    "1 while the last checkpoint was not cosigned by this witness",
    "witness",
  ),
  countersign_witness_contradicts: gauge(
    "1 while a witness says that this log was rolled back or replaced",
    "witness",
  ),
  countersign_timestamp_age_seconds: gauge("Age of the newest timestamp of a checkpoint"),
  countersign_timestamp_failures_total: counter("Checkpoints that could not be dated"),
  countersign_store_append_seconds: histogram(
    "Time one flush of receipts takes until it is durable",
  ),
  countersign_evidence_records_total: counter(
    "Payloads for the evidence store: kept, omitted by policy or size, dropped, or failed",
    "result",
  ),
  countersign_evidence_bytes: gauge("Bytes of encrypted copies in the evidence store"),
  countersign_ledger_failures_total: counter(
    "Questions and writes about threads that the ledger did not answer",
  ),
  countersign_velocity_waits_total: counter(
    "Times an event waited for room under a cap that gateways count together",
  ),
  countersign_velocity_failures_total: counter(
    "Questions about such caps that the database did not answer",
  ),
  countersign_velocity_stale: gauge(
    "1 while the database in which gateways count together does not answer",
  ),
  countersign_velocity_degraded: gauge(
    "1 while this gateway counts caps of up to a minute alone, because Redis is down",
  ),
  countersign_velocity_losses_total: counter(
    "Times that Redis had lost counts, so that caps of up to a minute were closed for one window",
  ),
  countersign_log_pending_entries: gauge("Appends under way in the log"),
  countersign_store_entries: gauge("Entries in the log"),
  countersign_store_index_lag_entries: gauge("Entries the index of an embedded store is behind"),
  countersign_policy_info: gauge(
    "Always 1; the active policy is in the labels",
    "name",
    "hash",
    "mode",
  ),
  countersign_policy_reloads_total: counter("Attempts to load the policy again", "result"),
  countersign_policy_stale: gauge(
    "1 while the newest policy text does not load and the last good one decides",
  ),
  countersign_revocations: gauge("Revoked capability tokens known"),
  countersign_revocations_stale: gauge(
    "1 while the revocation file cannot be read again, or the database of revocations does not answer",
  ),
  countersign_key_sets_stale: gauge(
    "1 while the keys of an issuer of access tokens cannot be fetched and the last valid ones are used",
    "issuer",
  ),
  countersign_redis_up: gauge("1 while Redis responds, by connection", "connection"),
  countersign_redis_failures_total: counter("Commands that Redis did not execute"),
  countersign_redis_reconnects_total: counter("Connections to Redis that were made again"),
  countersign_log_lines_suppressed_total: counter(
    "Log lines kept back because the same had been said often",
  ),
  countersign_log_lines_dropped_total: counter(
    "Log lines lost because standard output failed or did not keep up",
  ),
  countersign_trace_spans_total: counter("Spans handed to the collector, or not", "result"),
  countersign_log_records_total: counter("Log lines handed to the collector, or not", "result"),
  countersign_webhook_events_total: counter("Events handed to the webhook, or not", "result"),
  process_cpu_seconds_total: counter("Processor time used, in user and system mode"),
  process_resident_memory_bytes: gauge("Memory of the process"),
  process_start_time_seconds: gauge("When the process started, in seconds since the epoch"),
  process_open_fds: gauge("Open file descriptors"),
  nodejs_heap_used_bytes: gauge("JavaScript heap in use"),
  nodejs_heap_total_bytes: gauge("JavaScript heap reserved"),
  nodejs_external_memory_bytes: gauge("Memory of buffers and native objects"),
  nodejs_eventloop_lag_seconds: gauge("Delay of the event loop since the last scrape", "quantile"),
} as const satisfies Record<string, MetricFacts>;

/** The name of a metric. */
export type MetricName = keyof typeof METRICS;
