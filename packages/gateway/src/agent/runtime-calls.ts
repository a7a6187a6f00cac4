/** The routes of a CopilotKit runtime that answer with AG-UI events. */
export const STREAM_METHODS = ["agent/run", "agent/connect", "agent/suggest"] as const;

/**
 * The routes that a gateway serves only if `routes` lists them, by the runtime's own names. The policy judges none of them.
 *
 * Three of the runtime's routes are missing, so that no setting opens them: `cpk-debug-events` streams the events of all people before they are
 * judged, and the two `subscribe` routes give the browser a connection past the gateway.
 */
export const OPENABLE_METHODS = [
  "inspector/metadata",
  "inspector/learning",
  "transcribe",
  "threads/list",
  "threads/clear",
  "threads/messages",
  "threads/events",
  "threads/state",
  "threads/archive",
  "threads/update",
  "memories/list",
  "memories/recall",
  "memories/mutate",
  "annotate",
] as const;

/** A route that `routes` can open. */
export type OpenableMethod = (typeof OPENABLE_METHODS)[number];

/** A route that answers with events. */
export type StreamMethod = (typeof STREAM_METHODS)[number];

/** A call of a runtime's route, whether it came by path or in an envelope. */
export type RuntimeCall =
  | { readonly method: "info" }
  | { readonly method: StreamMethod; readonly agentId: string }
  | { readonly method: "agent/stop"; readonly agentId: string; readonly threadId: string }
  | {
      readonly method: OpenableMethod;
      readonly httpMethod: string;
      /** The path below the base of the runtime, with its query. */
      readonly path: string;
    };

/** How the client of a call reaches the runtime: one route per call, or one endpoint for all. The gateway does the same. */
export type RuntimeForm = "routes" | "single";

/** The path of a call below the base of the runtime. */
export function pathOf(call: RuntimeCall): string {
  if ("path" in call) return call.path;
  if (call.method === "info") return "info";
  const agent = `agent/${encodeURIComponent(call.agentId)}`;
  if (call.method === "agent/stop") return `${agent}/stop/${encodeURIComponent(call.threadId)}`;
  return `${agent}/${call.method.slice("agent/".length)}`;
}

/** The HTTP method of a call that goes to its own route. */
export function httpMethodOf(call: RuntimeCall): string {
  if ("httpMethod" in call) return call.httpMethod;
  return call.method === "info" ? "GET" : "POST";
}

/** Routes that have a method of their own in an envelope; the others travel as `resource/request`. */
const ENVELOPE_METHODS: ReadonlySet<string> = new Set([
  "inspector/metadata",
  "inspector/learning",
  "transcribe",
]);

/** The envelope of a call, as the clients of a single endpoint write it; `body` is JSON text. */
export function envelopeOf(call: RuntimeCall, body: string | undefined): string {
  const rest = body === undefined ? "" : `,"body":${body}`;
  const { method, params } = namedCall(call);
  const sent = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
  return `{"method":${JSON.stringify(method)}${sent}${rest}}`;
}

function namedCall(call: RuntimeCall): { method: string; params?: object } {
  if ("path" in call) {
    if (ENVELOPE_METHODS.has(call.method)) return { method: call.method };
    const params = { path: `/${call.path}`, httpMethod: call.httpMethod };
    return { method: "resource/request", params };
  }
  if (call.method === "info") return { method: "info" };
  const { method, ...params } = call;
  return { method, params };
}
