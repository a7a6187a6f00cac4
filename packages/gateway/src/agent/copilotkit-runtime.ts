import { CountersignError, parseJson } from "@countersign/core";
import type { Signal } from "@countersign/core";
import "../base/errors.js";
import { createHttpPool, openHttpStream, requestHttp } from "./http.js";
import type { HttpPool } from "./http.js";
import { envelopeOf, httpMethodOf, pathOf } from "./runtime-calls.js";
import type { RuntimeCall, RuntimeForm, StreamMethod } from "./runtime-calls.js";
import type {
  RuntimeAnswer,
  RuntimeConnection,
  RuntimeRequest,
  RuntimeSettings,
  Upstream,
  UpstreamTarget,
} from "./upstream.js";

/** The most bytes of an answer without events: a conversation of a few thousand messages. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Creates the client of a CopilotKit runtime. Without a route, a run goes to the first agent that is configured. */
export function createRuntimeUpstream(target: UpstreamTarget, settings: RuntimeSettings): Upstream {
  const pool = createHttpPool(target);
  const runtime: RuntimeConnection = {
    ...settings,
    upstreamOf: (call, form) => streamOf(target, pool, call, form),
    ask: (call, form, request) => ask(target, pool, call, form, request),
  };
  const [agentId = "default"] = settings.agents;
  const { open } = runtime.upstreamOf({ method: "agent/run", agentId }, "routes");
  return { target, runtime, open, close: () => pool.close() };
}

function streamOf(
  target: UpstreamTarget,
  pool: HttpPool,
  call: RuntimeCall & { method: StreamMethod },
  form: RuntimeForm,
): Upstream {
  const url = addressOf(target, call, form);
  return {
    target,
    ...(call.method === "agent/connect" ? { isReplay: true } : {}),
    ...(call.method === "agent/suggest" ? { isSuggestion: true } : {}),
    open: async (request) => {
      const body = form === "single" ? envelopeOf(call, request.body) : request.body;
      const stream = await openHttpStream({ ...target, url }, pool, { ...request, body }, "POST");
      if (call.method === "agent/run" && request.run !== undefined) {
        const { agentId } = call;
        const { threadId, runId, isClientGone } = request.run;
        const { sessionId, authorization, signal } = request;
        // The runtime goes on with a run whose connection is gone, for a page that is reloaded and connects again. All other ends are for the
        // runtime too: an order to stop the run, and a decision that ends it.
        signal.addEventListener("abort", () => {
          if (signal.reason === undefined && isClientGone()) return;
          const stop = { method: "agent/stop", agentId, threadId } as const;
          const asked = {
            sessionId,
            authorization,
            signal: NEVER,
            body: JSON.stringify({ runId }),
          };
          ask(target, pool, stop, form, asked).catch(() => undefined);
        });
      }
      return stream;
    },
    close: () => {},
  };
}

/** The signal of a request that nothing aborts; it has a time limit. */
const NEVER: Signal = {
  aborted: false,
  reason: undefined,
  addEventListener: () => {},
  removeEventListener: () => {},
};

function addressOf(target: UpstreamTarget, call: RuntimeCall, form: RuntimeForm): URL {
  if (form === "single") return target.url;
  const url = new URL(target.url);
  const [path = "", query] = pathOf(call).split("?", 2);
  url.pathname = `${url.pathname.replace(/\/$/u, "")}/${path}`;
  if (query !== undefined) url.search = query;
  return url;
}

async function ask(
  target: UpstreamTarget,
  pool: HttpPool,
  call: RuntimeCall,
  form: RuntimeForm,
  { body, ...request }: RuntimeRequest,
): Promise<RuntimeAnswer> {
  const isSingle = form === "single";
  const { status, bytes } = await requestHttp(
    { ...target, url: addressOf(target, call, form) },
    pool,
    { ...request, body: isSingle ? envelopeOf(call, body) : body },
    isSingle ? "POST" : httpMethodOf(call),
    MAX_ANSWER_BYTES,
  );
  // As the runtime responds to a change.
  if (bytes.byteLength === 0) return { status, value: null };
  try {
    return { status, value: parseJson(bytes, { maxBytes: MAX_ANSWER_BYTES }) };
  } catch (error) {
    const message = `the runtime of agent ${target.name} did not respond with JSON`;
    throw new CountersignError(
      "ERR_UPSTREAM_NOT_JSON",
      message,
      { agent: target.name, status },
      { cause: error },
    );
  }
}
