import { CountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../oatf/json/values.js";
import type { Stage } from "./mode.js";
import { hasContent } from "./request.js";

/** The common part of MCP and A2A clients: it performs actions one after the other. */
export type ClientSide = {
  readonly sent: number;
  isBusy(): boolean;
  /** Performs the actions of a state after those before them. */
  enter(state: JsonObject): void;
  send(method: string, params: JsonValue): void;
  /** Records a message of the agent and lets the phase see it. */
  receive(event: string, content: JsonValue): void;
  /** {@link receive} of the response to an action, or of an item of it. An error that means a failure is a gap. */
  respond(method: string, message: JsonValue): void;
  /** Ends an action. A response without words, in one message or several, is a gap if the action asks for some. */
  conclude(method: string, messages: readonly JsonValue[]): void;
  /** Records an own message. */
  record(event: string, content: JsonValue): void;
};

/** Errors of JSON-RPC that mean that the agent did not evaluate a request: parse error, invalid, no method, internal. */
const FAILURES: ReadonlySet<JsonValue> = new Set([-32_700, -32_600, -32_601, -32_603]);
/** Methods whose response has words of the agent. */
const ASKING: ReadonlySet<string> = new Set([
  "tools/call",
  "prompts/get",
  "resources/read",
  "message/send",
  "message/stream",
]);

/** Members that hold what a tool, a resource or another agent says. */
const WORDS: ReadonlySet<string> = new Set(
  "text data blob file uri resource structuredContent error".split(" "),
);

function hasWords(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(hasWords);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([name, member]) => (WORDS.has(name) && hasContent(member)) || hasWords(member),
  );
}

/** Creates the queue of actions; `perform` sends one and ends when its response is complete. */
export function createClientSide(
  stage: Stage,
  perform: (method: string, params: JsonObject) => Promise<void>,
): ClientSide {
  let last = Promise.resolve();
  let open = 0;
  let sent = 0;
  const send = (method: string, params: JsonValue): void => {
    open += 1;
    last = last
      .then(async () => {
        if (stage.isDone) return;
        sent += 1;
        const filled = stage.fill(params);
        await perform(method, isJsonObject(filled) ? filled : {});
      })
      .catch((error: unknown) => stage.fail(error))
      .then(() => {
        open -= 1;
        stage.guard(() => {});
      });
  };
  return {
    get sent() {
      return sent;
    },
    isBusy: () => open > 0,
    enter(state) {
      const actions = listMember(state, "actions");
      if (actions.length === 0)
        stage.missed("error", "the state has no actions, so nothing was sent");
      for (const action of actions) {
        send(textMember(action, "method") ?? "", ownMember(action, "params") ?? {});
      }
    },
    send,
    receive(event, content) {
      if (stage.isDone) return;
      stage.guard(() => {
        if (!stage.record("response", event, content)) {
          throw tooMuch("trace", "the agent sent more than the trace may hold");
        }
        stage.observe("response", content);
        stage.offer(event, content);
      });
    },
    respond(method, message) {
      const error = ownMember(message, "error");
      const code = ownMember(error, "code") ?? null;
      if (FAILURES.has(code)) {
        const what = `the response to ${method.slice(0, 64)} is error ${String(code)}`;
        stage.missed("error", `${what}, so the agent did not evaluate the action`);
      }
      this.receive(method, ownMember(message, "result") ?? error ?? {});
    },
    conclude(method, messages) {
      if (!ASKING.has(method) || messages.some(hasWords)) return;
      stage.missed("error", `the response to ${method.slice(0, 64)} is empty`);
    },
    record(event, content) {
      stage.record("request", event, content);
      stage.observe("request", content);
    },
  };
}

/** Like `fetch`, with a limit on the bytes of each response. */
export function boundedFetch(mostBytes: number): typeof fetch {
  return async (address, init) => {
    const response = await fetch(address, init);
    if (response.body === null) return response;
    let length = 0;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength;
        if (length > mostBytes) controller.error(tooMuch("frame", "a response is too long"));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(count), { status, statusText, headers });
  };
}

function tooMuch(reason: "trace" | "frame", message: string): CountersignError {
  return new CountersignError("ERR_REDTEAM_STREAM", message, { reason });
}
