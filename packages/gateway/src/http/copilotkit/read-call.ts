import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { OpenableMethod, RuntimeCall } from "../../agent/runtime-calls.js";

/** A call that the gateway can serve, and what a request to no such route gets instead. */
export type ReadCall =
  | { readonly call: RuntimeCall; readonly body?: JsonValue | undefined }
  /** The route exists and no setting opens it. */
  | { readonly closed: string }
  | { readonly allow: string }
  | { readonly unreadable: string }
  | { readonly unknown: true };

type Build = (
  segments: readonly string[],
  request: { method: string; path: string },
) => RuntimeCall;

/** One route: its path, with `*` for one segment, its HTTP methods, and its call. */
type Row = readonly [path: string, methods: readonly string[], build: Build | { closed: string }];

const resource =
  (method: OpenableMethod): Build =>
  (_segments, request) => ({ method, httpMethod: request.method, path: request.path });
const stream =
  (method: "agent/run" | "agent/connect" | "agent/suggest"): Build =>
  ([agentId = ""]) => ({ method, agentId });

/** The routes of CopilotKit's runtime 1.75, as its own router has them. The first row that fits counts. */
const ROUTES: readonly Row[] = [
  ["info", ["GET"], () => ({ method: "info" })],
  ["agent/*/run", ["POST"], stream("agent/run")],
  ["agent/*/connect", ["POST"], stream("agent/connect")],
  ["agent/*/suggest", ["POST"], stream("agent/suggest")],
  [
    "agent/*/stop/*",
    ["POST"],
    ([agentId = "", threadId = ""]) => ({ method: "agent/stop", agentId, threadId }),
  ],
  ["cpk-debug-events", ["GET"], { closed: "cpk-debug-events" }],
  ["inspector-metadata", ["GET"], resource("inspector/metadata")],
  ["inspector-learning", ["GET"], resource("inspector/learning")],
  ["transcribe", ["POST"], resource("transcribe")],
  ["threads/subscribe", ["POST"], { closed: "threads/subscribe" }],
  ["threads/clear", ["POST"], resource("threads/clear")],
  ["threads/*/messages", ["GET"], resource("threads/messages")],
  ["threads/*/events", ["GET"], resource("threads/events")],
  ["threads/*/state", ["GET"], resource("threads/state")],
  ["threads/*/archive", ["POST"], resource("threads/archive")],
  ["threads/*", ["PATCH", "DELETE"], resource("threads/update")],
  ["threads", ["GET"], resource("threads/list")],
  ["memories/recall", ["POST"], resource("memories/recall")],
  ["memories/subscribe", ["POST"], { closed: "memories/subscribe" }],
  ["memories/*", ["PATCH", "DELETE"], resource("memories/mutate")],
  ["memories", ["GET", "POST"], resource("memories/list")],
  ["annotate", ["POST"], resource("annotate")],
];

/** Reads a call from the path below the agent, without its leading slash. */
export function readPath(method: string, path: string, search: string): ReadCall {
  const segments = path.split("/");
  if (!segments.every(isPlainSegment)) return { unknown: true };
  for (const [pattern, methods, build] of ROUTES) {
    const found = segmentsOf(pattern, segments);
    if (found === undefined) continue;
    if ("closed" in build) return build;
    if (!methods.includes(method)) return { allow: methods.join(", ") };
    if (found.some((segment) => segment === "")) return { unknown: true };
    return { call: build(found, { method, path: `${path}${search}` }) };
  }
  return { unknown: true };
}

/** A segment of RFC 3986. */
const SEGMENT = /^(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/u;

/** Whether the runtime's address keeps a segment as it is: `..` and `\` would lead to another path. */
function isPlainSegment(segment: string): boolean {
  return SEGMENT.test(segment) && !/^(?:\.|%2e){1,2}$/iu.test(segment);
}

/** The decoded segments for each `*` of a pattern; `undefined` if the path does not fit. */
function segmentsOf(pattern: string, segments: readonly string[]): string[] | undefined {
  const parts = pattern.split("/");
  if (parts.length !== segments.length) return undefined;
  const found: string[] = [];
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] as string;
    if (part === "*") found.push(decoded(segment));
    else if (part !== segment) return undefined;
  }
  return found;
}

/** A segment with invalid percent-encoding is refused. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}

/** Members of the envelope; a runtime ignores others, so the gateway refuses them. */
const MEMBERS: ReadonlySet<string> = new Set(["method", "params", "body"]);

/** Reads a call from the envelope of a single endpoint: `{ method, params?, body? }`. */
export function readEnvelope(value: JsonValue): ReadCall {
  if (!isJsonObject(value)) return { unreadable: "the body is not an object" };
  const { method, params = {}, body } = value;
  if (typeof method !== "string") return { unreadable: "the body has no method" };
  if (Object.keys(value).some((key) => !MEMBERS.has(key)) || !isJsonObject(params)) {
    return { unreadable: "the body has more than method, params and body" };
  }
  const path = pathOfMethod(method, params);
  if (path === undefined) return { unreadable: "the method has no such parameters" };
  const read = readPath(path.httpMethod, path.path, path.search);
  return "call" in read ? { ...read, body } : read;
}

type MethodPath = { readonly httpMethod: string; readonly path: string; readonly search: string };

const FIXED: ReadonlyMap<string, string> = new Map([
  ["info", "GET info"],
  ["inspector/metadata", "GET inspector-metadata"],
  ["inspector/learning", "GET inspector-learning"],
  ["transcribe", "POST transcribe"],
]);
const OF_AGENT = /^agent\/(?:run|connect|suggest|stop)$/u;

/** The path that stands for a method of the envelope, so that one table decides about both forms. */
function pathOfMethod(method: string, params: JsonObject): MethodPath | undefined {
  const fixed = FIXED.get(method);
  if (fixed !== undefined) {
    const [httpMethod = "", path = ""] = fixed.split(" ");
    return { httpMethod, path, search: "" };
  }
  const { agentId, threadId, path, httpMethod } = params;
  if (OF_AGENT.test(method)) {
    if (typeof agentId !== "string") return undefined;
    const action = method.slice("agent/".length);
    const thread = typeof threadId === "string" ? `/${encodeURIComponent(threadId)}` : "";
    const end = action === "stop" ? thread : "";
    return {
      httpMethod: "POST",
      path: `agent/${encodeURIComponent(agentId)}/${action}${end}`,
      search: "",
    };
  }
  if (method !== "resource/request") return { httpMethod: "GET", path: method, search: "" };
  if (typeof path !== "string" || typeof httpMethod !== "string") return undefined;
  const [, name, search = ""] = /^\/([^?#/][^?#]*)(\?[^#]*)?$/u.exec(path) ?? [];
  return name === undefined
    ? undefined
    : { httpMethod: httpMethod.toUpperCase(), path: name, search };
}
