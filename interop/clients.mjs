// The clients, each behind the same four verbs: say something, answer a tool of the page, answer a question, look.
import { randomUUID } from "node:crypto";
import { HttpAgent as HttpAgent0 } from "agui-client-0";
import { HttpAgent as HttpAgent1 } from "agui-client-1";
import { ChatClient, fetchServerSentEvents } from "@tanstack/ai-client";
import { createAgentStore, postSse } from "../packages/client/dist/index.js";

/** The tool that the page offers in every request. */
export const PAGE_TOOL = {
  name: "change_background",
  description: "Changes the colour of the page",
  parameters: {
    type: "object",
    properties: { background: { type: "string" } },
    required: ["background"],
  },
};

/** What the page answers it. */
export const ANSWER = "the background is teal now";

/** Requests and answers as they were on the wire, newest last: what a client shows is not always what was sent. */
const exchanges = [];
const plainFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const answer = await plainFetch(input, init);
  const exchange = { request: JSON.parse(init?.body ?? "null") };
  exchanges.push(exchange);
  exchange.text = answer
    .clone()
    .text()
    .catch(() => "");
  return answer;
};

/** Takes what was said since the last look. */
async function newExchanges() {
  const read = exchanges.splice(0).map(async ({ request, text }) => {
    const lines = (await text).split("\n").filter((line) => line.startsWith("data: {"));
    return { request, wire: lines.map((line) => JSON.parse(line.slice("data: ".length))) };
  });
  return { exchanges: await Promise.all(read) };
}

/** By name; each opens a new conversation with the agent at an address. */
export const CLIENTS = {
  "ag-ui 1.0.0": (url) => official(HttpAgent1, url),
  "ag-ui 0.0.59": (url) => official(HttpAgent0, url),
  countersign: ours,
  tanstack: tanStack,
};

function official(HttpAgent, url) {
  const agent = new HttpAgent({ url, threadId: randomUUID() });
  exchanges.length = 0;
  const run = async (parameters = {}) => {
    const events = [];
    const result = { events, interrupts: [] };
    const subscriber = {
      onEvent: ({ event }) => void events.push(event),
      onRunFinishedEvent: ({ outcome, interrupts }) => {
        if (outcome === "interrupt") result.interrupts = interrupts;
      },
    };
    const request = { tools: [PAGE_TOOL], context: [], ...parameters };
    try {
      await agent.runAgent({ runId: randomUUID(), ...request }, subscriber);
    } catch (error) {
      result.error = told(error);
    }
    const failed = events.find(({ type }) => type === "RUN_ERROR");
    if (failed !== undefined) result.error = `RUN_ERROR ${failed.code ?? ""} ${failed.message}`;
    return { ...result, ...(await newExchanges()) };
  };
  return {
    say: (content, forwardedProps = {}) => {
      agent.addMessage({ id: randomUUID(), role: "user", content });
      return run({ forwardedProps });
    },
    answerTool: (toolCallId, content) => {
      agent.addMessage({ id: randomUUID(), role: "tool", toolCallId, content });
      return run();
    },
    resume: (interrupts, payload) =>
      run({
        resume: interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload })),
      }),
    look: () => ({ messages: agent.messages, state: agent.state }),
  };
}

function ours(url) {
  let events = [];
  // An option of the whole store: what a turn adds is put into it for that turn.
  const forwardedProps = {};
  const store = createAgentStore({
    transport: postSse({ url }),
    tools: [PAGE_TOOL],
    forwardedProps,
    reconnect: false,
    schedule: (tell) => {
      tell();
      return () => undefined;
    },
    onEvent: (event) => void events.push(event),
  });
  const run = async (start) => {
    events = [];
    try {
      const { problem, interrupts } = await start();
      const error = problem && `${problem.code} ${problem.message}`;
      return { events, interrupts, ...(problem === undefined ? {} : { error }) };
    } catch (error) {
      return { events, interrupts: [], error: told(error) };
    }
  };
  return {
    say: async (content, added = {}) => {
      Object.assign(forwardedProps, added);
      const result = await run(() => store.send(content));
      for (const key of Object.keys(added)) delete forwardedProps[key];
      return result;
    },
    answerTool: (toolCallId, content) => run(() => store.answer([{ toolCallId, content }])),
    resume: (interrupts, payload) =>
      run(() =>
        store.resume(
          interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload })),
        ),
      ),
    look: () => store.getSnapshot(),
  };
}

/** TanStack's client answers tools of the page itself, in a request of its own behind the first. */
function tanStack(url) {
  let events = [];
  let error;
  exchanges.length = 0;
  const client = new ChatClient({
    connection: fetchServerSentEvents(url),
    threadId: randomUUID(),
    tools: [{ ...clientTool(PAGE_TOOL), execute: async () => ANSWER }],
    onChunk: (chunk) => void events.push(chunk),
    onError: (problem) => (error = told(problem)),
  });
  const run = async (start) => {
    [events, error] = [[], undefined];
    try {
      await start();
    } catch (problem) {
      error = told(problem);
    }
    if (!(await settles(() => !client.getIsLoading()))) error ??= "the client waits for ever";
    const result = { events, interrupts: client.getPendingInterrupts() };
    return { ...result, ...(await newExchanges()), ...(error === undefined ? {} : { error }) };
  };
  return {
    say: (content, forwardedProps) => run(() => client.sendMessage(content, forwardedProps)),
    resume: (_, payload) =>
      run(() => client.resolveInterrupts((one) => void one.resolveInterrupt(payload))),
    look: () => ({ messages: client.getMessages(), state: null }),
  };
}

function clientTool({ name, description, parameters }) {
  return { __toolSide: "client", name, description, inputSchema: parameters };
}

/** Whether a client comes to rest: it says that it is idle, and a moment later begins the next request by itself. */
async function settles(isIdle) {
  let idle = 0;
  for (let round = 0; round < 200 && idle < 10; round += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
    idle = isIdle() ? idle + 1 : 0;
  }
  return idle === 10;
}

function told(error) {
  return String(error?.message ?? error).slice(0, 300);
}
