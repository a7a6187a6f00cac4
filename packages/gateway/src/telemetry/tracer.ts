import type { ClientIdentity } from "../event/client-identity.js";
import { createExporter, postJson } from "./exporter.js";
import type { ExporterOptions, Receiver } from "./exporter.js";
import { childOf, encodeSpans, formatTraceparent, parseTraceparent } from "./otlp.js";
import type { Attributes, Span } from "./otlp.js";

/** The facts of a run at its start. */
export type RunFacts = {
  readonly agent: string;
  /** The client, as the configuration shows it. */
  readonly client: ClientIdentity;
  readonly session: string;
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
  /** The ids of the span, for the log lines of the run. */
  readonly ids: { readonly trace_id: string; readonly span_id: string };
  end(result: RunResult): void;
};

/** Creates one span per run. */
export type Tracer = {
  start(facts: RunFacts): RunSpan;
  readonly dropped: number;
  readonly exported: number;
  close(): Promise<void>;
};

/** Options of {@link createTracer}; the address usually ends in `/v1/traces`. */
export type TracerOptions = Receiver & {
  readonly resource: Attributes;
  onFailure: ExporterOptions<Span>["onFailure"];
};

/** Creates a tracer that sends to a collector. */
export function createTracer(options: TracerOptions): Tracer {
  const exporter = createExporter<Span>({
    send: (spans) => postJson(options, encodeSpans(spans, options.resource)),
    onFailure: options.onFailure,
  });
  return {
    start(facts) {
      const parent = parseTraceparent(facts.traceparent);
      const context = childOf(parent);
      return {
        traceparent: formatTraceparent(context),
        ids: { trace_id: context.traceId, span_id: context.spanId },
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

function attributesOf(facts: RunFacts, result: RunResult): Attributes {
  const { principal, client_address: address } = facts.client;
  return {
    "countersign.agent": facts.agent,
    ...(principal === undefined ? {} : { "enduser.id": principal }),
    ...(address === undefined ? {} : { "client.address": address }),
    "session.id": facts.session,
    "gen_ai.conversation.id": facts.threadId,
    "countersign.run_id": facts.runId,
    "countersign.transport": facts.transport,
    "countersign.policy_hash": facts.policyHash,
    "countersign.state": result.state,
    "countersign.events_forwarded": result.forwarded,
    "countersign.events_blocked": result.blocked,
    ...(result.failure === undefined ? {} : { "error.type": result.failure }),
  };
}
