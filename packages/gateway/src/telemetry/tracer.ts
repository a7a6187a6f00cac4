import { createHash } from "node:crypto";
import { createExporter } from "./exporter.js";
import type { ExporterOptions } from "./exporter.js";
import type { SpanAttributes } from "./span.js";
import { childOf, formatTraceparent, parseTraceparent } from "./span.js";

/** The facts of a run at its start. */
export type RunFacts = {
  readonly agent: string;
  readonly threadId: string;
  readonly runId: string;
  readonly transport: string;
  readonly policyHash: string;
  readonly startedAt: number;
  /** The client's own `traceparent` header, unparsed. */
  readonly traceparent?: string | undefined;
};

/** The facts of a run at its end. */
export type RunResult = {
  readonly state: string;
  readonly forwarded: number;
  readonly blocked: number;
  readonly endedAt: number;
  readonly failure?: string | undefined;
};

/** The span of an open run. */
export type RunSpan = {
  /** The header for the agent. */
  readonly traceparent: string;
  end(result: RunResult): void;
};

/** Creates one span per run. */
export type Tracer = {
  start(facts: RunFacts): RunSpan;
  readonly dropped: number;
  readonly exported: number;
  close(): Promise<void>;
};

/** Creates a tracer that sends to a collector. */
export function createTracer(options: ExporterOptions): Tracer {
  const exporter = createExporter(options);
  return {
    start(facts) {
      const parent = parseTraceparent(facts.traceparent);
      const context = childOf(parent);
      return {
        traceparent: formatTraceparent(context),
        end: (result) => {
          // The client does not sample this trace.
          if (!context.isSampled) return;
          exporter.add({
            context,
            ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
            name: "ag-ui run",
            startedAt: facts.startedAt,
            endedAt: result.endedAt,
            attributes: attributesOf(facts, result),
            ...(result.failure === undefined ? {} : { failure: result.failure }),
          });
        },
      };
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

function attributesOf(facts: RunFacts, result: RunResult): SpanAttributes {
  return {
    "countersign.agent": facts.agent,
    "countersign.run_id": facts.runId,
    // The client chooses the thread id, which may name a person; its hash still groups.
    "countersign.thread_hash": createHash("sha256")
      .update(facts.threadId)
      .digest("hex")
      .slice(0, 16),
    "countersign.transport": facts.transport,
    "countersign.policy_hash": facts.policyHash,
    "countersign.state": result.state,
    "countersign.events_forwarded": result.forwarded,
    "countersign.events_blocked": result.blocked,
    ...(result.failure === undefined ? {} : { "error.type": result.failure }),
  };
}
