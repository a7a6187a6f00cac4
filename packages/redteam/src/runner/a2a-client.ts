import { CountersignError, isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { createSseDecoder } from "@countersign/wire/sse";
import { textMember } from "../oatf/json/values.js";
import { boundedFetch, createClientSide } from "./client-side.js";
import type { Mode, ModeFactory, Stage } from "./mode.js";

/** The events by which OATF names the items of a stream. */
const ITEMS: ReadonlyMap<string, string> = new Map([
  ["status-update", "task/status"],
  ["artifact-update", "task/artifact"],
]);

/** An A2A client (version 0.3, JSON-RPC) that performs the actions of the phase's state on the agent's own A2A server. */
export const createA2aClient: ModeFactory = (stage) => {
  const stop = new AbortController();
  const side = createClientSide(stage, (method, params) => perform(method, params));
  let nextId = 1;

  const perform = async (method: string, params: JsonObject): Promise<void> => {
    const { endpoints, headers, limits, timeouts } = stage.context;
    const isCard = method === "agent_card/get";
    const address = new URL(isCard ? "/.well-known/agent-card.json" : "", endpoints.a2a);
    const body = { jsonrpc: "2.0", id: nextId, method, params };
    nextId += 1;
    side.record(method, params);
    const response = await boundedFetch(limits.maxTraceLength)(
      isCard ? address : (endpoints.a2a ?? ""),
      {
        method: isCard ? "GET" : "POST",
        headers: { accept: "application/json, text/event-stream", ...headers, ...JSON_BODY },
        ...(isCard ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(timeouts.idle)]),
      },
    );
    if (!response.ok) {
      stage.missed("error", `the agent's A2A server answered with status ${response.status}`);
    }
    const isStream = /^text\/event-stream\b/.test(response.headers.get("content-type") ?? "");
    if (isCard) side.receive(method, parsed(await response.text()));
    else {
      const messages: JsonValue[] = [];
      const takeText = (text: string): void => {
        const message = parsed(text);
        messages.push(message);
        take(method, message);
      };
      if (isStream) await readItems(stage, response, takeText);
      else takeText(await response.text());
      side.conclude(method, messages);
    }
  };
  const take = (method: string, message: JsonValue): void => {
    const result = ownMember(message, "result");
    side.respond(method, message);
    const item = ITEMS.get(textMember(result, "kind") ?? "");
    if (item !== undefined && result !== undefined) side.receive(item, result);
  };
  const mode: Mode = {
    get runs() {
      return side.sent;
    },
    isBusy: side.isBusy,
    enter: side.enter,
    send: side.send,
    ended() {
      // Every action was sent, or the actor has failed.
    },
    close: () => stop.abort(),
  };
  return mode;
};

const JSON_BODY = { "content-type": "application/json" };

async function readItems(
  { context }: Stage,
  response: Response,
  take: (text: string) => void,
): Promise<void> {
  const { maxFrameBytes } = context.limits;
  const decoder = createSseDecoder({ maxFrameBytes, maxLineBytes: maxFrameBytes });
  for await (const chunk of response.body ?? []) {
    for (const { data } of decoder.push(chunk)) if (data !== "") take(data);
  }
  for (const { data } of decoder.end()) if (data !== "") take(data);
}

function parsed(text: string): JsonValue {
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Any text may come.
  }
  throw new CountersignError("ERR_REDTEAM_STREAM", "a message of the agent is not valid A2A", {
    reason: "malformed",
  });
}
