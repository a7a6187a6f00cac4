import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { encodeSse } from "@countersign/wire/sse";
import { listMember, textMember } from "../oatf/json/values.js";
import { listenOnLoopback, readBody } from "./loopback.js";
import type { LoopbackServer } from "./loopback.js";
import type { Mode, ModeFactory, Stage } from "./mode.js";
import { createServerSide } from "./server-side.js";

const MOST_TASKS = 1000;
const CARD_PATHS: ReadonlySet<string> = new Set([
  "/.well-known/agent-card.json",
  "/.well-known/agent.json",
]);
const ERRORS = {
  parse: { code: -32_700, message: "Parse error" },
  internal: { code: -32_603, message: "Internal error" },
  method: { code: -32_601, message: "Method not found" },
  task: { code: -32_001, message: "Task not found" },
} as const;

/** The answer to a request: one value, a stream of values, or an error. */
type Answer =
  | { readonly result: JsonValue }
  | { readonly stream: readonly JsonObject[] }
  | { readonly error: JsonObject };

/** An A2A agent (version 0.3, JSON-RPC) that presents the agent card of the phase's state and answers with its tasks. */
export const createA2aServer: ModeFactory = (stage) => new A2aServer(stage);

class A2aServer implements Mode {
  readonly runs = 0;
  readonly #stage: Stage;
  readonly #side: ReturnType<typeof createServerSide>;
  readonly #tasks = new Map<string, JsonObject>();
  #server: LoopbackServer | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#side = createServerSide(stage);
  }

  isBusy(): boolean {
    return true;
  }

  async listen(): Promise<void> {
    const { context, actor } = this.#stage;
    this.#server = await listenOnLoopback(
      (request, response) => this.#handle(request, response),
      context.nextPort("a2a"),
    );
    context.addresses.a2a[actor.name] = this.#server.url;
  }

  enter(state: JsonObject): void {
    this.#side.enter(state);
  }

  send(method: string): void {
    this.#stage.missed("unsupported", `send ${method.slice(0, 64)}: an A2A server only answers`);
  }

  ended(): void {
    this.#side.ended();
  }

  close(): void {
    this.#server?.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://agent.invalid");
    if (request.method === "GET" && CARD_PATHS.has(pathname)) {
      const answer = this.#answer("agent_card/get", {});
      return sendJson(response, 200, "result" in answer ? answer.result : {});
    }
    if (request.method !== "POST") return sendJson(response, 404, {});
    const body = await readBody(request, this.#stage.context.limits.maxFrameBytes);
    const message = body === undefined ? undefined : readMessage(body);
    if (message === undefined) {
      this.#stage.missed("error", "a message of the agent is not valid JSON-RPC");
      return sendJson(response, 200, { jsonrpc: "2.0", id: null, error: rpcError("parse") });
    }
    const envelope = { jsonrpc: "2.0", id: message.id };
    const answer = this.#answer(message.method, message.params);
    if (!("stream" in answer)) return sendJson(response, 200, { ...envelope, ...answer });
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    for (const result of answer.stream) {
      response.write(encodeSse(JSON.stringify({ ...envelope, result })));
    }
    response.end();
  }

  /** Records a request and its response. The trigger sees the request last: this phase still answers it. */
  #answer(method: string, params: JsonObject): Answer {
    const answers: Answer[] = [];
    this.#stage.guard(() => {
      this.#side.receive(method, params);
      const answer = this.#answerTo(method, params);
      answers.push(answer);
      this.#side.respond(method, "result" in answer ? answer.result : answer.error);
      this.#stage.offer(method, params);
    });
    const [answer = { error: rpcError("internal") }] = answers;
    if (method !== "message/stream" || !("result" in answer)) return answer;
    return { stream: isJsonObject(answer.result) ? streamOf(answer.result) : [] };
  }

  #answerTo(method: string, params: JsonObject): Exclude<Answer, { stream: unknown }> {
    switch (method) {
      case "agent_card/get":
      case "agent/getAuthenticatedExtendedCard":
        return { result: this.#card() };
      case "message/send":
      case "message/stream":
        return { result: this.#task(params) };
      case "tasks/get":
      case "tasks/cancel": {
        const task = this.#tasks.get(textMember(params, "id") ?? "");
        if (task === undefined) return { error: rpcError("task") };
        const status = method === "tasks/cancel" ? { status: { state: "canceled" } } : {};
        return { result: { ...task, ...status } };
      }
      default:
        return { error: rpcError("method") };
    }
  }

  /** The card of the state. Its address is this server, or the agent would send its messages elsewhere. */
  #card(): JsonObject {
    const written = ownMember(this.#stage.effectiveState(), "agent_card");
    const url = this.#server?.url ?? "";
    const card = this.#stage.fill(isJsonObject(written) ? written : {});
    const { url: writtenUrl } = card;
    if (writtenUrl !== undefined && writtenUrl !== url) {
      const message = "the url of the agent card is sent as the address of the server";
      this.#stage.context.note({ code: "CS-012", message });
    }
    return {
      protocolVersion: "0.3.0",
      name: "oatf-agent",
      description: "",
      version: "1.0.0",
      preferredTransport: "JSONRPC",
      capabilities: { streaming: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [],
      ...card,
      url,
    };
  }

  #task(params: JsonObject): JsonObject {
    const entries = listMember(this.#stage.effectiveState(), "task_responses");
    const entry = this.#side.choose(entries, params) ?? {};
    const task = withIds(contentOf(entry), ownMember(params, "message"));
    const id = textMember(task, "id");
    if (id !== undefined && this.#tasks.size < MOST_TASKS) this.#tasks.set(id, task);
    return task;
  }
}

type RpcMessage = { readonly id: JsonValue; readonly method: string; readonly params: JsonObject };

function readMessage(body: string): RpcMessage | undefined {
  try {
    const message = parseJson(body);
    const method = textMember(message, "method");
    const params = ownMember(message, "params") ?? {};
    if (method === undefined || !isJsonObject(params)) return undefined;
    return { id: ownMember(message, "id") ?? null, method, params };
  } catch {
    return undefined;
  }
}

/** The content of an entry, also in the form of older documents: state, messages and artifacts in the entry itself. */
function contentOf({ content, status, messages, artifacts }: JsonObject): JsonObject {
  if (isJsonObject(content)) return content;
  if (typeof content === "string") return { parts: [{ kind: "text", text: content }] };
  const spoken = Array.isArray(messages) ? messages.map(withKinds) : [];
  const last = spoken.at(-1);
  return {
    status: {
      state: typeof status === "string" ? status : "completed",
      ...(last === undefined ? {} : { message: last }),
    },
    ...(Array.isArray(artifacts) ? { artifacts: artifacts.map(withKinds) } : {}),
  };
}

/** Members that A2A requires and that documents leave out; what is written stays as it is. */
function withIds(content: JsonObject, message: JsonValue | undefined): JsonObject {
  const contextId = textMember(message, "contextId") ?? randomUUID();
  if (ownMember(content, "parts") !== undefined && ownMember(content, "status") === undefined) {
    return { kind: "message", role: "agent", messageId: randomUUID(), contextId, ...content };
  }
  const id = textMember(message, "taskId") ?? randomUUID();
  const task: JsonObject = {
    kind: "task",
    id,
    contextId,
    status: { state: "completed" },
    ...content,
  };
  const { status, artifacts } = task;
  const said = ownMember(status, "message");
  if (isJsonObject(status) && isJsonObject(said)) {
    const filled = { kind: "message", role: "agent", messageId: randomUUID(), ...said };
    task["status"] = { ...status, message: filled };
  }
  if (Array.isArray(artifacts)) {
    task["artifacts"] = artifacts.map((artifact) =>
      isJsonObject(artifact) ? { artifactId: randomUUID(), ...artifact } : artifact,
    );
  }
  return task;
}

/** Parts with `type`, as before A2A 0.3, get their `kind`. */
function withKinds(holder: JsonValue): JsonValue {
  if (!isJsonObject(holder)) return holder;
  const parts = listMember(holder, "parts").map((part) => {
    const kind = textMember(part, "kind") ?? textMember(part, "type");
    return isJsonObject(part) && kind !== undefined ? { ...part, kind } : part;
  });
  return { ...holder, parts };
}

/** The items of a stream: a message alone, or a task, its artifacts and its status. */
function streamOf(task: JsonObject): JsonObject[] {
  if (task["kind"] === "message") return [task];
  const { id: taskId = "", contextId = "", status = {} } = task;
  const place = { taskId, contextId };
  return [
    { ...task, artifacts: [] },
    ...listMember(task, "artifacts").map((artifact) => ({
      kind: "artifact-update",
      ...place,
      artifact,
    })),
    { kind: "status-update", ...place, status, final: true },
  ];
}

function rpcError(name: keyof typeof ERRORS): JsonObject {
  return { ...ERRORS[name] };
}

function sendJson(response: ServerResponse, status: number, value: JsonValue): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
