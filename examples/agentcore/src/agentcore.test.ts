import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { HttpAgent } from "@ag-ui/client";
import { loadConfig } from "@countersign/gateway";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import { validate } from "dockerfile-utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startAgent } from "../agent.mjs";
import { startInFront } from "../gateway.mjs";

const SESSION = "52ed4489-0000-4000-8000-example000001";
const container = (name: string): URL => new URL(`../container/${name}`, import.meta.url);
const read = (name: string): string => readFileSync(container(name), "utf8");

let agent: Awaited<ReturnType<typeof startAgent>>;
let gateway: Awaited<ReturnType<typeof startInFront>>;
beforeAll(async () => {
  agent = await startAgent(0);
  gateway = await startInFront(agent.url);
});
afterAll(async () => {
  await gateway.close();
  await agent.close();
});

const inputOf = (runId: string, content: string): object => ({
  threadId: `thread-${runId}`,
  runId,
  messages: [{ id: `question-${runId}`, role: "user", content }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
});

test("the gateway answers the health check of the platform", async () => {
  const answer = await fetch(`${gateway.url}/ping`);
  expect(await answer.json()).toMatchObject({ status: "Healthy" });
});

test("the official client gets text in the session that the platform names, and is not led elsewhere", async () => {
  const client = new HttpAgent({
    url: `${gateway.url}/invocations`,
    threadId: "conversation",
    initialMessages: [{ id: "q", role: "user", content: "open my account" }],
    headers: {
      authorization: `Bearer ${await gateway.tokenFor("ada")}`,
      "x-amzn-bedrock-agentcore-runtime-session-id": SESSION,
    },
  });
  const { newMessages } = await client.runAgent({ runId: "first" });
  expect(newMessages).toEqual([
    expect.objectContaining({ role: "assistant", content: `You are in session ${SESSION}.` }),
  ]);
});

test("a request without a token of the user pool is refused", async () => {
  const answer = await fetch(`${gateway.url}/invocations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(inputOf("stranger", "hello")),
  });
  expect(answer.status).toBe(401);
});

test.each(["main", "socket"])(
  "a browser's socket carries one run after another, to the agent's %s side",
  async (side) => {
    const bearer = Buffer.from(await gateway.tokenFor("grace")).toString("base64url");
    const socket = new WebSocket(
      `${gateway.url.replace("http:", "ws:")}/ws?agent=${side}&session=${SESSION}-${side}`,
      [`base64UrlBearerAuthorization.${bearer}`, "base64UrlBearerAuthorization"],
    );
    await once(socket, "open");
    expect(socket.protocol).toBe("base64UrlBearerAuthorization");
    for (const runId of [`${side}-1`, `${side}-2`]) {
      const types: string[] = [];
      const over = new Promise<void>((resolve) => {
        socket.on("message", function hear(data) {
          const { type } = JSON.parse(String(data)) as { type: string };
          types.push(type);
          if (!/^RUN_(FINISHED|ERROR)$/u.test(type)) return;
          socket.off("message", hear);
          resolve();
        });
      });
      socket.send(JSON.stringify(inputOf(runId, "hello")));
      await over;
      expect(types[0]).toBe("RUN_STARTED");
      expect(types).toContain("TEXT_MESSAGE_CONTENT");
      expect(types.at(-1)).toBe("RUN_FINISHED");
    }
    socket.close();
    await once(socket, "close");
  },
);

test("what goes into the container is well formed", () => {
  const config = loadConfig(read("countersign.yaml"), {
    file: "/etc/countersign/countersign.yaml",
    environment: { COUNTERSIGN_STORE: "postgres://user:secret@database/countersign" },
  });
  expect(config.listen).toMatchObject({ host: "0.0.0.0", port: 8080 });
  expect(() => compilePolicy(loadPolicy(read("policy.yaml")))).not.toThrow();
  expect(validate(read("Dockerfile"))).toEqual([]);
});

test("of two processes in one container, the end of one is the end of both", async () => {
  const script = fileURLToPath(container("together.mjs"));
  const sleeper = ["--", process.execPath, "-e", "setInterval(() => {}, 1000)"];
  const ender = ["--", process.execPath, "-e", "process.exit(3)"];
  const together = spawn(process.execPath, [script, ...sleeper, ...ender], { stdio: "ignore" });
  expect(await once(together, "exit")).toEqual([3, null]);
});
