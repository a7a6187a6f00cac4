import { createRuntimeUpstream } from "./copilotkit-runtime.js";
import { connectHttpStream, createHttpPool, openHttpStream } from "./http.js";
import type { Upstream, UpstreamTarget } from "./upstream.js";
import { openWebSocketStream } from "./websocket.js";

/** Creates the client of one agent, for the configured transport. */
export function createUpstream(target: UpstreamTarget): Upstream {
  if (target.runtime !== undefined) return createRuntimeUpstream(target, target.runtime);
  if (target.transport === "websocket") {
    return { target, open: (request) => openWebSocketStream(target, request), close: () => {} };
  }
  const pool = createHttpPool(target);
  if (target.transport === "post-sse") {
    return {
      target,
      open: (request) => openHttpStream(target, pool, request, "POST"),
      connect: (request) => connectHttpStream(target, pool, request, "POST"),
      close: () => pool.close(),
    };
  }
  return {
    target,
    open: (request) => {
      // A GET has no body: the session is all that an agent on this transport receives.
      const url = new URL(target.url);
      url.searchParams.set("session", request.sessionId);
      return openHttpStream({ ...target, url }, pool, request, "GET");
    },
    close: () => pool.close(),
  };
}
