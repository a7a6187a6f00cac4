import { Role } from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";
import { expect, test } from "vitest";
import { textMessage, textsIn } from "../agents/a2a-message.js";
import { messagesOf, runDriven, user } from "./testing/driven.js";

const legacyCompat = { enabled: true };
const connect = (url: string) =>
  new ClientFactory({
    transports: [new JsonRpcTransportFactory({ legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
  }).createFromUrl(url);
const request = (text: string) => ({
  tenant: "",
  message: textMessage(Role.ROLE_USER, text),
  configuration: undefined,
  metadata: undefined,
});
const artifact = (text: string) => ({
  content: { status: { state: "completed" }, artifacts: [{ parts: [{ kind: "text", text }] }] },
});

test("an A2A server dispatches by when, fills templates, extracts, advances by trigger and acts on entry", async () => {
  const server = {
    name: "broker",
    mode: "a2a_server",
    phases: [
      {
        name: "first",
        state: {
          agent_card: { name: "Broker", description: "Rates", url: "https://elsewhere.example/" },
          task_responses: [
            { when: { "message.role": "agent" }, ...artifact("never") },
            artifact("rate for {{request.message.role}}"),
          ],
        },
        extractors: [
          { name: "asked", source: "request", type: "regex", selector: '"text":"([^"]+)"' },
        ],
        trigger: { event: "message/send", count: 2 },
      },
      {
        name: "second",
        on_enter: [{ log: { message: "was asked {{asked}}" } }],
        state: {
          agent_card: { name: "Broker", description: "You asked {{asked}}" },
          // The form of older documents.
          task_responses: [
            {
              status: "completed",
              messages: [{ role: "agent", parts: [{ type: "text", text: "old {{asked}}" }] }],
            },
          ],
        },
      },
    ],
  };
  const heard: unknown[] = [];
  const bodies: string[] = [];
  const result = await runDriven(
    [server, user("Hi", "{{broker.asked}}?")],
    async ({ a2a }, body) => {
      bodies.push(body);
      if (bodies.length > 1) return "done";
      const client = await connect(a2a["broker"] ?? "");
      heard.push((await client.getAgentCard()).description);
      for (const word of ["gold", "silver"])
        heard.push(textsIn(await client.sendMessage(request(word))));
      heard.push((await (await connect(a2a["broker"] ?? "")).getAgentCard()).description);
      const items: object[] = [];
      for await (const item of client.sendMessageStream(request("bronze"))) items.push(item);
      heard.push(items.map(textsIn).filter((text) => text !== ""));
      return "done";
    },
  );
  expect([result.outcome, result.reason]).toEqual(["not_exploited", undefined]);
  expect(heard).toEqual([
    "Rates",
    "rate for user",
    "rate for user",
    "You asked silver",
    ["old silver", "old silver"],
  ]);
  expect(bodies[1]).toContain("silver?");
  const notes = result.execution?.notes ?? [];
  expect(notes).toContainEqual({ code: "log:info", message: "was asked silver" });
  expect(notes.map(({ code }) => code)).toContain("CS-012");
  expect(messagesOf(result, "a2a")).toEqual([
    "first request agent_card/get",
    "first response agent_card/get",
    ...[0, 1].flatMap(() => ["first request message/send", "first response message/send"]),
    "second request agent_card/get",
    "second response agent_card/get",
    "second request message/stream",
    "second response message/stream",
  ]);
});

const SERVER = {
  name: "s",
  mode: "a2a_server",
  phases: [{ state: { agent_card: { name: "S" } } }],
};

test("tasks are kept and cancelled, unknown ones and unknown methods are errors of the protocol", async () => {
  const answers: unknown[] = [];
  const result = await runDriven([SERVER, user("Hi")], async ({ a2a }) => {
    const rpc = async (
      method: string,
      params: object,
    ): Promise<{ result?: { id: string; status: object }; error?: { code: number } }> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return (await fetch(a2a["s"] ?? "", { method: "POST", body })).json() as never;
    };
    const { result: task } = await rpc("message/send", { message: { role: "user", parts: [] } });
    const id = task?.id;
    answers.push((await rpc("tasks/get", { id })).result?.status);
    answers.push((await rpc("tasks/cancel", { id })).result?.status);
    answers.push((await rpc("tasks/get", { id: "other" })).error?.code);
    answers.push((await rpc("tasks/invent", {})).error?.code);
    answers.push((await fetch(`${a2a["s"] ?? ""}/else`)).status);
    return "done";
  });
  expect(answers).toEqual([{ state: "completed" }, { state: "canceled" }, -32_001, -32_601, 404]);
  expect(result.outcome).toBe("not_exploited");
});

test.each([
  ["text", "{"],
  ["no method", "{}"],
  ["a duplicate key", '{"jsonrpc":"2.0","method":"x","method":"tasks/get"}'],
  ["a long body", JSON.stringify({ method: "tasks/get", params: { id: "x".repeat(3000) } })],
])("a hostile agent that posts %s to an A2A server ends in an error", async (_, body) => {
  const result = await runDriven(
    [SERVER, user("Hi")],
    async ({ a2a }) => {
      await fetch(a2a["s"] ?? "", { method: "POST", body }).catch(() => undefined);
      return "no";
    },
    { limits: { maxFrameBytes: 2000 } },
  );
  expect([result.outcome, result.reason]).toEqual(["error", expect.stringContaining("JSON-RPC")]);
});

test("an A2A server that is never asked has delivered nothing", async () => {
  const result = await runDriven([SERVER, user("Hi")], async () => "no");
  expect([result.outcome, result.reason]).toEqual([
    "error",
    expect.stringContaining("the agent asked the server for nothing"),
  ]);
});
