import { CountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { listMember, textMember } from "../oatf/json/values.js";
import { boundedFetch, createClientSide } from "./client-side.js";
import type { Mode, ModeFactory, Stage } from "./mode.js";
import { chooseEntry } from "./server-side.js";
import { timeoutError } from "./stopwatch.js";

const VERSION = "2025-11-25";
const CLIENT = { name: "oatf-client", version: "1.0.0" };

/** An MCP client that performs the actions of the phase's state on the agent's own MCP server. */
export const createMcpClient: ModeFactory = (stage) => new McpClient(stage);

class McpClient implements Mode {
  readonly #stage: Stage;
  readonly #side: ReturnType<typeof createClientSide>;
  readonly #waiting = new Map<number, (message: JsonValue) => void>();
  #transport: StreamableHTTPClientTransport | undefined;
  #nextId = 1;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#side = createClientSide(stage, (method, params) => this.#perform(method, params));
  }

  get runs(): number {
    return this.#side.sent;
  }

  isBusy(): boolean {
    return this.#side.isBusy();
  }

  enter(state: JsonObject): void {
    this.#side.enter(state);
  }

  send(method: string, params: JsonValue): void {
    this.#side.send(method, params);
  }

  act(name: string, value: JsonValue): boolean {
    if (name !== "send_notification") return false;
    this.send(textMember(value, "method") ?? "", ownMember(value, "params") ?? {});
    return true;
  }

  ended(): void {
    // Every action was sent, or the actor has failed.
  }

  close(): void {
    for (const answered of this.#waiting.values()) answered(null);
    void this.#transport?.close().catch(() => {});
  }

  async #perform(method: string, params: JsonObject): Promise<void> {
    const transport = (this.#transport ??= await this.#connect());
    if (!method.startsWith("notifications/")) {
      await this.#request(transport, method, params);
      return;
    }
    this.#side.record(method, params);
    await transport.send({ jsonrpc: "2.0", method, params });
  }

  async #connect(): Promise<StreamableHTTPClientTransport> {
    const { StreamableHTTPClientTransport: Transport } =
      await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const { endpoints, headers, limits } = this.#stage.context;
    const transport = new Transport(new URL(endpoints.mcp ?? ""), {
      requestInit: { headers: { ...headers } },
      fetch: boundedFetch(limits.maxTraceLength),
    });
    transport.onmessage = (message) => this.#take(message as JsonValue, transport);
    transport.onerror = ({ message }) => {
      if (this.#stage.isDone) return;
      const shown = message.slice(0, 200);
      this.#stage.missed("error", `the agent's MCP server cannot be understood: ${shown}`);
    };
    await transport.start();
    const identity = this.#stage.fill(identityOf(this.#stage.effectiveState()));
    const answer = await this.#request(transport, "initialize", identity);
    if (ownMember(answer, "result") === undefined) {
      const message = "the agent's MCP server rejected the handshake";
      throw new CountersignError("ERR_REDTEAM_CONNECTION", message, { cause: "initialize" });
    }
    transport.setProtocolVersion(VERSION);
    this.#side.record("notifications/initialized", {});
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return transport;
  }

  async #request(
    transport: StreamableHTTPClientTransport,
    method: string,
    params: JsonObject,
  ): Promise<JsonValue> {
    const id = this.#nextId;
    this.#nextId += 1;
    const { idle } = this.#stage.context.timeouts;
    const answer = new Promise<JsonValue>((resolve, reject) => {
      const timer = setTimeout(() => reject(timeoutError("idle", idle)), idle);
      this.#waiting.set(id, (message) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(message);
      });
    });
    this.#side.record(method, params);
    const [message] = await Promise.all([
      answer,
      transport.send({ jsonrpc: "2.0", id, method, params } as JSONRPCMessage),
    ]);
    this.#side.respond(method, message);
    this.#side.conclude(method, [message]);
    return message;
  }

  #take(message: JsonValue, transport: StreamableHTTPClientTransport): void {
    const method = textMember(message, "method");
    const id = ownMember(message, "id");
    if (method === undefined) {
      if (typeof id === "number") this.#waiting.get(id)?.(message);
      return;
    }
    const written = ownMember(message, "params");
    const params = isJsonObject(written) ? written : {};
    this.#side.receive(method, params);
    if (id === undefined) return;
    this.#stage.guard(() => {
      const result = this.#answerTo(method, params);
      const error = { code: -32_601, message: "Method not found" };
      this.#side.record(method, result ?? error);
      transport
        .send({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) } as never)
        .catch(() =>
          this.#stage.missed("error", `the response to ${method.slice(0, 64)} was lost`),
        );
    });
  }

  /** The response to a request of the server; `undefined` when the state has none. */
  #answerTo(method: string, params: JsonObject): JsonObject | undefined {
    const state = this.#stage.effectiveState();
    if (method === "ping") return {};
    if (method === "roots/list") return this.#stage.fill(rootsOf(state));
    if (method === "sampling/createMessage") {
      const entry = chooseEntry(this.#stage, listMember(state, "sampling_responses"), params);
      const content = ownMember(entry, "content");
      return isJsonObject(content) ? content : undefined;
    }
    if (method !== "elicitation/create") return undefined;
    const responses = listMember(state, "elicitation_responses");
    const entry = chooseEntry(this.#stage, responses, params);
    return entry === undefined ? undefined : { action: "accept", ...entry };
  }
}

function identityOf(state: JsonObject): JsonObject {
  return {
    protocolVersion: VERSION,
    clientInfo: ownMember(state, "client_info") ?? CLIENT,
    capabilities: ownMember(state, "capabilities") ?? { roots: { listChanged: true } },
  };
}

function rootsOf(state: JsonObject): JsonObject {
  return { roots: [...listMember(state, "roots")] };
}
