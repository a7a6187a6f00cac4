import { randomUUID } from "node:crypto";
import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { listMember, textMember } from "../oatf/json/values.js";
import { evaluatePredicate } from "../oatf/index.js";
import type { MatchPredicate } from "../oatf/index.js";
import { listenOnLoopback } from "./loopback.js";
import type { HttpHandler, LoopbackServer } from "./loopback.js";
import type { Mode, ModeFactory, Stage } from "./mode.js";
import { createServerSide } from "./server-side.js";

const MOST_SESSIONS = 64;
const MOST_WAITING = 64;
const VERSION = "2025-11-25";
const CODES = { method: -32_601, params: -32_602, resource: -32_002 } as const;

/** An answer of the protocol that is an error. */
class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** A connection of an agent. What the server sends on its own waits until the agent listens for it. */
type Session = {
  readonly transport: StreamableHTTPServerTransport;
  isListening: boolean;
  readonly waiting: (() => void)[];
};

/** An MCP server over Streamable HTTP that presents the tools, resources and prompts of the phase's state. */
export const createMcpServer: ModeFactory = (stage) => new McpServer(stage);

class McpServer implements Mode {
  readonly runs = 0;
  readonly #stage: Stage;
  readonly #side: ReturnType<typeof createServerSide>;
  readonly #sessions = new Map<string, Session>();
  /** Messages of the server's own, and whether an agent that listens got them. */
  readonly #own: { readonly method: string; isSent: boolean }[] = [];
  readonly #asked = new Map<RequestId, { method: string; answered: () => void }>();
  #server: LoopbackServer | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#side = createServerSide(stage);
  }

  isBusy(): boolean {
    return true;
  }

  async listen(): Promise<void> {
    const { StreamableHTTPServerTransport: Transport } =
      await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
    const handle: HttpHandler = async (request, response) => {
      const known = this.#sessions.get(String(request.headers["mcp-session-id"]));
      const session = known ?? this.#open(Transport);
      if (known !== undefined && request.method === "GET") {
        // The transport has the stream as soon as it has seen the request.
        setImmediate(() => {
          known.isListening = true;
          for (const send of known.waiting.splice(0)) send();
        });
      }
      await session.transport.handleRequest(request, response);
    };
    const { context, actor } = this.#stage;
    this.#server = await listenOnLoopback(handle, context.nextPort("mcp"));
    context.addresses.mcp[actor.name] = `${this.#server.url}/mcp`;
  }

  #open(Transport: typeof StreamableHTTPServerTransport): Session {
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: this.#stage.context.limits.maxFrameBytes,
      onsessioninitialized: (id) => {
        if (this.#sessions.size < MOST_SESSIONS) this.#sessions.set(id, session);
        else this.#stage.missed("error", "the agent opened too many sessions");
      },
    });
    const session: Session = { transport, isListening: false, waiting: [] };
    transport.onmessage = (message) => void this.#take(message, transport);
    transport.onerror = ({ message }) => {
      const shown = message.slice(0, 200);
      this.#stage.missed("error", `a message of the agent is not valid MCP: ${shown}`);
    };
    return session;
  }

  enter(state: JsonObject): void {
    this.#side.enter(state);
  }

  send(method: string, params: JsonValue): void {
    const content = this.#stage.fill(params);
    if (this.#sessions.size === 0) {
      this.#stage.missed("cut_short", `send ${method.slice(0, 64)}: no agent is connected`);
      return;
    }
    const own = { method, isSent: false };
    this.#own.push(own);
    for (const { transport, isListening, waiting } of this.#sessions.values()) {
      const push = (): void => {
        own.isSent = true;
        void this.#push(transport, method, content);
      };
      if (isListening) push();
      else if (waiting.length < MOST_WAITING) waiting.push(push);
    }
  }

  act(name: string, value: JsonValue): boolean {
    if (name === "send_notification") {
      this.send(textMember(value, "method") ?? "", ownMember(value, "params") ?? {});
    } else if (name === "send_elicitation") this.send("elicitation/create", value);
    else return false;
    return true;
  }

  ended(): void {
    this.#side.ended();
    for (const { method, isSent } of this.#own) {
      // A change counts as delivered when the agent lists it, not by the notification.
      if (isSent || method.endsWith("/list_changed")) continue;
      const message = `${method.slice(0, 64)} was not delivered, because the agent does not listen`;
      this.#stage.missed("cut_short", message);
    }
    for (const method of new Set([...this.#asked.values()].map((one) => one.method))) {
      this.#stage.missed("cut_short", `the agent did not answer ${method.slice(0, 64)}`);
    }
  }

  close(): void {
    for (const { answered } of this.#asked.values()) answered();
    for (const { transport } of this.#sessions.values()) void transport.close().catch(() => {});
    this.#server?.close();
  }

  /** A notification or request of the server; waits for nothing. */
  #push(
    transport: StreamableHTTPServerTransport,
    method: string,
    params: JsonValue,
    relatedRequestId?: RequestId,
  ): Promise<void> {
    const isRequest = !method.startsWith("notifications/");
    const id = randomUUID();
    const message = { jsonrpc: "2.0", method, params, ...(isRequest ? { id } : {}) };
    this.#side.respond(method, params);
    const answer = new Promise<void>((resolve) => {
      if (!isRequest) return resolve();
      const timer = setTimeout(() => {
        this.#stage.missed("error", `the agent did not answer ${method.slice(0, 64)} in time`);
        answered();
      }, this.#stage.context.timeouts.idle);
      const answered = (): void => {
        clearTimeout(timer);
        this.#asked.delete(id);
        resolve();
      };
      this.#asked.set(id, { method, answered });
    });
    transport
      .send(message as JSONRPCMessage, relatedRequestId === undefined ? {} : { relatedRequestId })
      .catch(() => this.#stage.missed("error", `${method.slice(0, 64)} could not be sent`));
    return answer;
  }

  async #take(message: JSONRPCMessage, transport: StreamableHTTPServerTransport): Promise<void> {
    const method = textMember(message, "method");
    const id = ownMember(message as JsonValue, "id") as RequestId | undefined;
    if (method === undefined) this.#takeAnswer(message as JsonValue, id);
    else if (id === undefined) {
      const params = paramsOf(message as JsonValue);
      this.#stage.guard(() => {
        this.#side.receive(method, params);
        this.#stage.offer(method, params);
      });
    } else await this.#answer(method, paramsOf(message as JsonValue), id, transport);
  }

  #takeAnswer(message: JsonValue, id: RequestId | undefined): void {
    const asked = id === undefined ? undefined : this.#asked.get(id);
    if (asked === undefined) return;
    const content = ownMember(message, "result") ?? ownMember(message, "error") ?? {};
    this.#stage.guard(() => {
      this.#side.receive(asked.method, content);
      this.#stage.offer(asked.method, content);
    });
    asked.answered();
  }

  async #answer(
    method: string,
    params: JsonObject,
    id: RequestId,
    transport: StreamableHTTPServerTransport,
  ): Promise<void> {
    this.#stage.guard(() => this.#side.receive(method, params));
    if (method === "tools/call" || method === "prompts/get") {
      for (const elicitation of this.#elicitationsFor(params)) {
        await this.#push(transport, "elicitation/create", elicitation, id);
      }
    }
    this.#stage.guard(() => {
      const answer = this.#responseTo(method, params);
      this.#side.respond(method, "result" in answer ? answer.result : answer.error);
      transport
        .send({ jsonrpc: "2.0", id, ...answer } as JSONRPCMessage)
        .catch(() =>
          this.#stage.missed("error", `the response to ${method.slice(0, 64)} was lost`),
        );
      this.#stage.offer(method, params);
    });
  }

  #elicitationsFor(params: JsonObject): JsonObject[] {
    return listMember(this.#stage.effectiveState(), "elicitations").flatMap((one) => {
      if (!isJsonObject(one)) return [];
      const { when = {}, ...request } = one;
      if (!evaluatePredicate(when as MatchPredicate, params)) return [];
      this.#side.delivered();
      const id = request["mode"] === "url" ? { elicitationId: randomUUID() } : {};
      return [{ ...id, ...this.#stage.fill(request) }];
    });
  }

  #responseTo(method: string, params: JsonObject): { result: JsonValue } | { error: JsonObject } {
    try {
      return { result: this.#result(method, params) };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }

  #result(method: string, params: JsonObject): JsonValue {
    const state = this.#stage.effectiveState();
    const shown = (key: string): JsonValue => this.#stage.fill(withoutExtensions(state, key));
    switch (method) {
      case "initialize":
        return this.#stage.fill(identityOf(state));
      case "tools/list":
        return { tools: shown("tools") };
      case "resources/list":
        return { resources: shown("resources") };
      case "resources/templates/list":
        return { resourceTemplates: shown("resource_templates") };
      case "prompts/list":
        return { prompts: shown("prompts") };
      case "tools/call":
        return toolResult(this.#chosen(state, "tools", params));
      case "prompts/get":
        return promptResult(this.#chosen(state, "prompts", params));
      case "resources/read":
        return this.#resource(state, params);
      case "completion/complete":
        return { completion: { values: [] } };
      case "ping":
      case "logging/setLevel":
      case "resources/subscribe":
      case "resources/unsubscribe":
        return {};
      default:
        throw new RpcError(CODES.method, "Method not found");
    }
  }

  #chosen(state: JsonObject, key: "tools" | "prompts", params: JsonObject): JsonObject {
    const item = listMember(state, key).find(
      (one) => textMember(one, "name") === textMember(params, "name"),
    );
    if (item === undefined) throw new RpcError(CODES.params, `Unknown name in ${key}`);
    return this.#side.choose(listMember(item, "responses"), params) ?? {};
  }

  #resource(state: JsonObject, params: JsonObject): JsonValue {
    const resource = listMember(state, "resources").find(
      (one) => textMember(this.#stage.fill(one), "uri") === textMember(params, "uri"),
    );
    const content = ownMember(resource, "content");
    if (!isJsonObject(content)) throw new RpcError(CODES.resource, "Resource not found");
    this.#side.delivered();
    const mimeType = textMember(resource, "mimeType");
    const place = { uri: params["uri"] ?? "", ...(mimeType === undefined ? {} : { mimeType }) };
    return { contents: [{ ...place, ...this.#stage.fill(content) }] };
  }
}

function paramsOf(message: JsonValue): JsonObject {
  const params = ownMember(message, "params");
  return isJsonObject(params) ? params : {};
}

/** The items of a list as the agent sees them, without the members that OATF adds. */
function withoutExtensions(state: JsonObject, key: string): JsonValue {
  return listMember(state, key).map((item) => {
    if (!isJsonObject(item)) return item;
    const { responses: _responses, ...rest } = item;
    if (key !== "resources") return rest;
    const { content: _content, ...resource } = rest;
    return resource;
  });
}

function identityOf(state: JsonObject): JsonObject {
  const capability = { tools: "tools", resources: "resources", prompts: "prompts" };
  const offered = Object.entries(capability).filter(([key]) => ownMember(state, key) !== undefined);
  const instructions = ownMember(state, "instructions");
  return {
    protocolVersion: ownMember(state, "protocol_version") ?? VERSION,
    serverInfo: ownMember(state, "server_info") ?? { name: "oatf-server", version: "1.0.0" },
    capabilities:
      ownMember(state, "capabilities") ??
      Object.fromEntries(offered.map(([, name]) => [name, { listChanged: true }])),
    ...(instructions === undefined ? {} : { instructions }),
  };
}

/** The result of a tool: whole as it is written, or the content alone. */
function toolResult({ content = [] }: JsonObject): JsonValue {
  if (Array.isArray(content)) return { content };
  if (isJsonObject(content)) return content;
  return { content: [{ type: "text", text: String(content) }] };
}

function promptResult({ messages, content }: JsonObject): JsonValue {
  if (isJsonObject(content)) return content;
  return { messages: messages ?? content ?? [] };
}
