import type { Finding } from "../check/findings.js";
import { isAtLeast } from "../check/findings.js";
import type { StreamSummary } from "../check/summary.js";
import type { NetworkFacts } from "../probe/connect.js";
import type { Phase } from "../probe/phase.js";
import type { Layer, Severity } from "../rules/rule.js";
import { LAYER_NAMES } from "../rules/rule.js";
import type { RuleId } from "../rules/table.js";

/** One event on the timeline. */
export type TimelineEvent = {
  readonly eventNumber: number;
  /** Milliseconds since the check, or the recording, began. */
  readonly atMs: number;
  readonly type: string;
  readonly bytes: number;
  readonly rules: readonly RuleId[];
  /** The event's JSON, cut when it is long. */
  readonly json?: string;
};

/** When what happened; only the first events are kept. */
export type Timeline = {
  readonly phases: readonly Phase[];
  readonly events: readonly TimelineEvent[];
  /** Events that are not in the list. */
  readonly omitted: number;
};

/** The bytes of one message on one transport. */
export type ByteRow = {
  readonly transport: "sse-http1" | "sse-http2" | "websocket";
  /** Whether this transport was spoken; the others are computed from the same events. */
  readonly measured: boolean;
  /** Bytes before the first message of a connection: preflight or upgrade. */
  readonly setup: number;
  /** Bytes that go up for each message. */
  readonly request: number;
  readonly payload: number;
  readonly framing: number;
  readonly overheadPercent: number;
  readonly total: number;
};

/** How a layer fared. */
export type LayerStatus = {
  readonly layer: Layer;
  readonly name: string;
  readonly status: "pass" | "warn" | "fail" | "skipped";
  readonly reason?: string;
};

/** The request and the response, without secrets. */
export type ExchangeFacts = {
  readonly method: string;
  readonly httpVersion?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The encoding with which the body was read. */
  readonly encoding?: "sse" | "proto" | "websocket" | "jsonl" | "agui.jsonl";
  readonly frameStyle?: string;
  readonly closeCode?: number;
  /** The beginning of a response that was not a stream. */
  readonly excerpt?: string;
};

/** The capabilities that an agent declares (`GET <path>/capabilities`). */
export type CapabilityFacts = {
  readonly isValid: boolean;
  /** The groups that the agent names. */
  readonly groups: readonly string[];
  /** The reason why the declaration is malformed. */
  readonly problem?: string;
};

/** Everything a check found out. */
export type DoctorReport = {
  readonly target: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly verdict: string;
  readonly layers: readonly LayerStatus[];
  readonly findings: readonly Finding[];
  readonly skipped: readonly { readonly what: string; readonly reason: string }[];
  readonly network?: NetworkFacts;
  readonly exchange?: ExchangeFacts;
  readonly stream?: StreamSummary;
  readonly capabilities?: CapabilityFacts;
  readonly timeline: Timeline;
  readonly bytes: readonly ByteRow[];
};

/** The findings that make a check fail. */
export function failing(report: DoctorReport, threshold: Severity | "never"): Finding[] {
  if (threshold === "never") return [];
  return report.findings.filter((finding) => isAtLeast(finding, threshold));
}

/** How each layer fared; `reached` is the deepest layer that was looked at. */
export function checkLayers(
  findings: readonly Finding[],
  reached: Layer,
  skipped: ReadonlyMap<Layer, string> = new Map(),
): LayerStatus[] {
  return ([1, 2, 3] as const).map((layer): LayerStatus => {
    const name = LAYER_NAMES[layer];
    const own = findings.filter((finding) => finding.layer === layer);
    if (own.some(({ severity }) => severity === "error")) return { layer, name, status: "fail" };
    const reason = skipped.get(layer);
    if (reason !== undefined) return { layer, name, status: "skipped", reason };
    if (layer > reached)
      return { layer, name, status: "skipped", reason: "an earlier layer failed" };
    const warned = own.some(({ severity }) => severity === "warning");
    return { layer, name, status: warned ? "warn" : "pass" };
  });
}

/** The verdict in one line: the lowest layer with a fault comes first, for it explains the others. */
export function verdictOf(findings: readonly Finding[], events: number): string {
  const counted = (severity: Severity, word: string): string => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return `${count} ${word}${count === 1 ? "" : "s"}`;
  };
  const worst =
    findings.find(({ severity }) => severity === "error") ??
    findings.find(({ severity }) => severity === "warning");
  const checked = `${events} event${events === 1 ? "" : "s"} checked`;
  if (worst === undefined) return `Clean: nothing wrong found, ${checked}.`;
  const place = `layer ${worst.layer} (${LAYER_NAMES[worst.layer]})`;
  return `${counted("error", "error")}, ${counted("warning", "warning")}; look at ${place} first: ${worst.rule}. ${checked}.`;
}
