import { CountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { listMember, textMember } from "../oatf/json/values.js";
import type { Stage } from "./mode.js";

/** The common part of MCP and A2A clients: it performs actions one after the other. */
export type ClientSide = {
  readonly sent: number;
  isBusy(): boolean;
  /** Performs the actions of a state after those before them. */
  enter(state: JsonObject): void;
  send(method: string, params: JsonValue): void;
  /** Records a message of the agent and lets the phase see it. */
  receive(event: string, content: JsonValue): void;
  /** Records an own message. */
  record(event: string, content: JsonValue): void;
};

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
