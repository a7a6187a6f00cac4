import { randomBytes } from "node:crypto";

/** The attributes of a span, of a log record or of the resource that sends them. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** One finished run as a span. */
export type Span = {
  readonly context: TraceContext;
  readonly parentSpanId?: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** The error code of a failed run; absent when the run succeeded. */
  readonly failure?: string;
};

const KIND_SERVER = 2;
const STATUS = { unset: 0, error: 2 } as const;

/** The body of an OTLP/HTTP request in its JSON form, for `/v1/traces`. */
export function encodeSpans(spans: readonly Span[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "countersign" }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf(span: Span): object {
  const { context, failure } = span;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KIND_SERVER,
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributesOf(span.attributes),
    status:
      failure === undefined ? { code: STATUS.unset } : { code: STATUS.error, message: failure },
  };
}

/** One line of the gateway's log. */
export type LogRecord = {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly attributes: Attributes;
  /** The span that the line belongs to. */
  readonly context?: Pick<TraceContext, "traceId" | "spanId">;
};

/** The first number of each range in the data model of OpenTelemetry logs. */
const SEVERITIES = { debug: 5, info: 9, warn: 13, error: 17 } as const;

/** The body of an OTLP/HTTP request in its JSON form, for `/v1/logs`. */
export function encodeLogs(records: readonly LogRecord[], resource: Attributes): string {
  return JSON.stringify({
    resourceLogs: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeLogs: [{ scope: { name: "countersign" }, logRecords: records.map(logRecordOf) }],
      },
    ],
  });
}

function logRecordOf({ at, level, message, attributes, context }: LogRecord): object {
  return {
    timeUnixNano: nanoseconds(at),
    observedTimeUnixNano: nanoseconds(at),
    severityNumber: SEVERITIES[level],
    severityText: level.toUpperCase(),
    body: { stringValue: message },
    attributes: attributesOf(attributes),
    ...context,
  };
}

/** 64-bit numbers are strings in the JSON form of protobuf. */
function nanoseconds(milliseconds: number): string {
  return `${BigInt(Math.round(milliseconds)) * 1_000_000n}`;
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** A position in a trace: W3C Trace Context, level 1. */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
};

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/u;
const SAMPLED = 1;

/**
 * Reads a `traceparent` header; an invalid one is treated as absent, as the specification requires.
 */
export function parseTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== "string") return undefined;
  const [, version, traceId, spanId, flags] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === "ff" || traceId === undefined) return undefined;
  if (spanId === undefined || flags === undefined) return undefined;
  if (/^0+$/u.test(traceId) || /^0+$/u.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** Writes a `traceparent` header. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** A new span under a parent, or the root of a new trace. */
export function childOf(parent: TraceContext | undefined): TraceContext {
  return {
    traceId: parent?.traceId ?? randomBytes(16).toString("hex"),
    spanId: randomBytes(8).toString("hex"),
    isSampled: parent?.isSampled ?? true,
  };
}
