// The clients, each behind the same four verbs: say something, answer a tool of the page, answer a question, look.
import { randomUUID } from "node:crypto";
import { HttpAgent as HttpAgent0 } from "agui-client-0";
import { HttpAgent as HttpAgent1 } from "agui-client-1";
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

async function lastExchange() {
  const { request, text } = exchanges.splice(0).at(-1) ?? {};
  const lines = ((await text) ?? "").split("\n").filter((line) => line.startsWith("data: "));
  return { request, wire: lines.map((line) => JSON.parse(line.slice("data: ".length))) };
}

/** By name; each opens a new conversation with the agent at an address. */
export const CLIENTS = {
  "ag-ui 1.0.0": (url) => official(HttpAgent1, url),
  "ag-ui 0.0.59": (url) => official(HttpAgent0, url),
  countersign: ours,
};

function official(HttpAgent, url) {
  const agent = new HttpAgent({ url, threadId: randomUUID() });
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
    return { ...result, ...(await lastExchange()) };
  };
  return {
    say: (content) => {
      agent.addMessage({ id: randomUUID(), role: "user", content });
      return run();
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
  const store = createAgentStore({
    transport: postSse({ url }),
    tools: [PAGE_TOOL],
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
    say: (content) => run(() => store.send(content)),
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

function told(error) {
  return String(error?.message ?? error).slice(0, 300);
}
