import { isJsonObject, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { VERSION } from "../base/version.js";
import { createExporter, postJson } from "./exporter.js";
import type { Receiver } from "./exporter.js";
import { encodeLogs } from "./otlp.js";
import type { Attributes, LogRecord } from "./otlp.js";

/** The collector of log lines; its address usually ends in `/v1/logs`. */
export type OtlpLogs = Receiver & { readonly service: string };

/** Sends lines of the log to a collector in the background. */
export type LogExporter = {
  /** Adds one JSON line as it was written: secrets are removed and repeats limited already. */
  add(line: string): void;
  readonly dropped: number;
  readonly exported: number;
  close(): Promise<void>;
};

/** Starts to send; `onFailure` must not throw. */
export function createLogExporter(
  receiver: OtlpLogs,
  onFailure: (reason: string, records: number) => void,
): LogExporter {
  const resource = { "service.name": receiver.service, "service.version": VERSION };
  const exporter = createExporter<LogRecord>({
    send: (records) => postJson(receiver, encodeLogs(records, resource)),
    onFailure,
  });
  return {
    add(line) {
      const record = logRecordOf(line);
      if (record !== undefined) exporter.add(record);
    },
    get dropped() {
      return exporter.dropped;
    },
    get exported() {
      return exporter.exported;
    },
    close: () => exporter.close(),
  };
}

/** Reads a line that pino wrote; `undefined` for a line about this export, which would never end. */
function logRecordOf(line: string): LogRecord | undefined {
  const record = parseJson(line.trimEnd());
  if (!isJsonObject(record) || record["code"] === "LOGS_DROPPED") return undefined;
  const { level, time, msg, name: _name, trace_id: traceId, span_id: spanId, ...facts } = record;
  return {
    at: Date.parse(String(time)),
    level: level as LogRecord["level"],
    message: String(msg),
    attributes: attributesOf(facts),
    ...(typeof traceId === "string" && typeof spanId === "string"
      ? { context: { traceId, spanId } }
      : {}),
  };
}

function attributesOf(facts: Record<string, JsonValue>): Attributes {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      `countersign.${name}`,
      typeof value === "object" ? JSON.stringify(value) : value,
    ]),
  );
}
