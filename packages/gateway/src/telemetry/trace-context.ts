import { randomBytes } from "node:crypto";

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
