import { sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { compilePolicy, createPolicyHolder, loadPolicy } from "@countersign/policy";
import { afterEach, expect, test } from "vitest";
import { createAgentStore } from "./store/create-agent-store.js";
import { startChatGateway } from "./testing/chat-gateway.js";
import type { ChatGateway } from "./testing/chat-gateway.js";
import { textOf } from "./testing/harness.js";
import { postSse } from "./transport/post-sse.js";

let served: ChatGateway | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

/** A list is judged by its messages, and one that changes the thread is blocked. */
const POLICY = `hushspec: "0.1.0"
rules:
  ag_ui: { enabled: true, allow_display_without_capability: true }
  ag_ui_inbound: { enabled: true, default: allow }
  ag_ui_messages: { lists: parts }
`;

type Message = { id: string; role: string; content: string };

/** An agent that keeps its thread and lists it at these times of a run. */
function listingAgent(times: readonly string[]): FakeScript {
  const thread: Message[] = [];
  const list = (time: string): object[] =>
    times.includes(time) ? [{ type: "MESSAGES_SNAPSHOT", messages: structuredClone(thread) }] : [];
  return ({ body }) => {
    const { threadId, runId, messages } = JSON.parse(body) as {
      threadId: string;
      runId: string;
      messages: Message[];
    };
    const known = new Set(thread.map(({ id }) => id));
    thread.push(...messages.filter(({ id }) => !known.has(id)));
    const events: object[] = [{ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" }];
    events.push(...list("start"));
    const id = `a${thread.length}`;
    events.push(...textOf(id, `answer ${id}`));
    thread.push({ id, role: "assistant", content: `answer ${id}` });
    events.push(...list("end"), { type: "RUN_FINISHED", threadId, runId });
    return { pieces: events.map(sseFrame) };
  };
}

test.each([[["start"]], [["end"]], [["start", "end"]]])(
  "a reloaded page goes on for several turns with an agent that lists its thread at %j",
  async (times) => {
    served = await startChatGateway(listingAgent(times), {
      policy: createPolicyHolder(compilePolicy(loadPolicy(POLICY))),
    });
    const transport = postSse({ url: `http://${served.address}/agents/support` });
    let store = createAgentStore({ transport });
    const { threadId } = store.getSnapshot();
    for (let turn = 1; turn <= 9; turn += 1) {
      if (turn % 3 === 0) {
        store.close();
        store = createAgentStore({ transport, threadId });
      }
      const { status, problem, messages } = await store.send(`question ${turn}`);
      expect({ turn, status, problem }).toEqual({ turn, status: "done", problem: undefined });
      expect(messages).toHaveLength(2 * turn);
    }
    store.close();
  },
);
