/** The route of a request, by method and path. */
export type DataRoute =
  | { kind: "run"; agent: string | undefined }
  /** A path below an agent, which only a CopilotKit runtime has. */
  | { kind: "runtime"; agent: string; path: string }
  | { kind: "stream" }
  | { kind: "stop" }
  | { kind: "ticket" }
  | { kind: "ping" }
  | { kind: "health" }
  | { kind: "ready" }
  | { kind: "method"; allow: string }
  | { kind: "unknown" };

/** The route of a WebSocket. */
export type SocketRoute = { kind: "socket"; agent: string | undefined } | { kind: "unknown" };

const AGENT = /^\/agents\/([^/]+)$/;
const BELOW_AGENT = /^\/agents\/([^/]+)\/(.+)$/;
const AGENT_SOCKET = /^\/agents\/([^/]+)\/ws$/;

const FIXED: ReadonlyMap<string, { method: string; route: DataRoute }> = new Map([
  ["/ag-ui/run", { method: "POST", route: { kind: "run", agent: undefined } }],
  ["/invocations", { method: "POST", route: { kind: "run", agent: undefined } }],
  ["/ag-ui/stream", { method: "GET", route: { kind: "stream" } }],
  ["/ag-ui/stop", { method: "POST", route: { kind: "stop" } }],
  ["/ag-ui/tickets", { method: "POST", route: { kind: "ticket" } }],
  ["/ping", { method: "GET", route: { kind: "ping" } }],
  ["/healthz", { method: "GET", route: { kind: "health" } }],
  ["/readyz", { method: "GET", route: { kind: "ready" } }],
] as const);

/** Finds the route of a request. */
export function routeRequest(method: string, path: string): DataRoute {
  const [, parent, below] = BELOW_AGENT.exec(path) ?? [];
  if (parent !== undefined && below !== undefined) {
    return { kind: "runtime", agent: decodeName(parent), path: below };
  }
  const agent = AGENT.exec(path)?.[1];
  const found =
    agent === undefined
      ? FIXED.get(path)
      : { method: "POST", route: { kind: "run" as const, agent: decodeName(agent) } };
  if (found === undefined) return { kind: "unknown" };
  return method === found.method ? found.route : { kind: "method", allow: found.method };
}

/** Finds the route of a WebSocket upgrade. */
export function routeSocket(path: string): SocketRoute {
  if (path === "/ag-ui" || path === "/ws") return { kind: "socket", agent: undefined };
  const agent = AGENT_SOCKET.exec(path)?.[1];
  return agent === undefined ? { kind: "unknown" } : { kind: "socket", agent: decodeName(agent) };
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
