import { readdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HttpAgent } from "@ag-ui/client";
import { loadConfig, startGateway } from "@countersign/gateway";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { runProgram } from "../testing/run-program.js";
import { PRESETS } from "./presets.js";

// Recordings of real frameworks (`npm run test:interop -- --write`), replayed behind the gateway.
const FOLDER = fileURLToPath(new URL("../../../../interop/recordings/", import.meta.url));
const NAMES = readdirSync(FOLDER).map((file) => file.replace(".agui.jsonl", ""));
/** Recordings of what needs the preset of another name. */
const PRESET_OF: Readonly<Record<string, string>> = {
  "copilotkit-runtime": "copilotkit",
  // Written by hand: none of the frameworks sends events of subagents yet. They need no rule of their own.
  subagents: "a2a",
};
/** A run that the official client reads otherwise without the gateway's repair (`encrypted-value-of-step`). */
const REPAIRED: Readonly<Record<string, string>> = { tanstack: "reasoning" };
/** The first runs of each recording: a text, and a tool of the agent's own. */
const PLAIN = 2;

type Request = Parameters<HttpAgent["setMessages"]>[0] extends infer Messages
  ? { threadId: string; runId: string; messages: Messages; state: unknown; [key: string]: unknown }
  : never;
type Exchange = { kind: string; request: Request; events: { type: string }[] };
type Seen = {
  kind: string;
  counts: Record<string, number>;
  text: string;
  messages: unknown;
  state: unknown;
  error: string | undefined;
};
type Mode = "observe" | "starter" | "opened";

let home = "";
const closers: (() => Promise<unknown>)[] = [];
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "countersign-recordings-"));
  // The official client prints what it throws away.
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

function read(name: string): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const line of readFileSync(join(FOLDER, `${name}.agui.jsonl`), "utf8")
    .trim()
    .split("\n")) {
    const value = JSON.parse(line) as Exchange & { type: string };
    if (value.type === undefined) exchanges.push({ ...value, events: [] });
    else exchanges.at(-1)?.events.push(value);
  }
  return exchanges;
}

/** An agent that answers each request with what was recorded for its run. */
async function startAgent(exchanges: readonly Exchange[]): Promise<string> {
  const agent = await startFakeAgent(({ body }) => {
    const { runId } = JSON.parse(body) as { runId: string };
    const found = exchanges.find(({ request }) => request.runId === runId);
    return { pieces: (found?.events ?? []).map(sseFrame) };
  });
  closers.push(() => agent.stop());
  return agent.url;
}

/** The servers and pages of recorded apps, which an operator fills in. */
const APPS = [
  ["servers: []", "servers: [shop, 17408d08a92400f911d9e8424e9f32e6]"],
  ["resources: []", 'resources: [{ uri: "ui://shop/*" }]'],
] as const;

/** A gateway as `countersign init` sets it up. */
async function startBefore(agent: string, name: string, mode: Mode): Promise<string> {
  const directory = mkdtempSync(join(home, `${name}-${mode}-`));
  const preset = PRESET_OF[name] ?? name;
  const opened = mode === "opened" ? ["--for", preset, "--tool", "change_background"] : [];
  await runProgram("init", directory, "--agent", agent, ...opened);
  for (const file of readdirSync(directory).filter((one) => one.endsWith(".yaml"))) {
    const path = join(directory, file);
    let filled = readFileSync(path, "utf8");
    for (const [empty, value] of APPS) filled = filled.replace(empty, value);
    writeFileSync(path, filled);
  }
  const policy = join(directory, "policy.yaml");
  const text = readFileSync(policy, "utf8");
  if (mode !== "observe") writeFileSync(policy, text.replace(/^mode: observe$/m, "mode: enforce"));
  const file = join(directory, "countersign.yaml");
  const config = readFileSync(file, "utf8").replaceAll(/port: 808[01]/g, "port: 0");
  const running = await startGateway(loadConfig(config, { file, environment: {} }));
  closers.push(() => running.close());
  return `${running.dataUrl}/agents/main`;
}

/** Asks again what was asked then, with the official client. */
async function replay(url: string, exchanges: readonly Exchange[]): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const { kind, request } of exchanges) {
    const { threadId, messages, state, runId, tools, context, forwardedProps, resume } = request;
    const agent = new HttpAgent({ url, threadId });
    agent.setMessages(messages);
    agent.setState(state as never);
    const counts: Record<string, number> = {};
    let text = "";
    let error: string | undefined;
    const parameters = { runId, tools, context, forwardedProps, resume } as never;
    try {
      await agent.runAgent(parameters, {
        onEvent: ({ event }) => {
          counts[event.type] = (counts[event.type] ?? 0) + 1;
          if (event.type === "TEXT_MESSAGE_CONTENT") text += String(event["delta"]);
          if (event.type === "RUN_ERROR") error = String(event["message"]);
        },
      });
    } catch (thrown) {
      error = String(thrown);
    }
    seen.push({ kind, counts, text, messages: agent.messages, state: agent.state, error });
  }
  return seen;
}

test("ten kinds of agents are recorded", () => {
  expect(NAMES.length).toBeGreaterThanOrEqual(10);
  expect(Object.keys(PRESETS)).toEqual(
    expect.arrayContaining(NAMES.map((name) => PRESET_OF[name] ?? name)),
  );
});

test.each(NAMES)("%s: observing and the opened policy change nothing", async (name) => {
  const exchanges = read(name);
  const agent = await startAgent(exchanges);
  const direct = await replay(agent, exchanges);
  const observed = await replay(await startBefore(agent, name, "observe"), exchanges);
  const opened = await replay(await startBefore(agent, name, "opened"), exchanges);
  // Of a run that the official client refuses, the gateway's repair is all that there is to compare with.
  const wanted = direct.map((run, index) =>
    run.error === undefined && run.kind !== REPAIRED[name] ? run : observed[index],
  );
  expect(observed).toEqual(wanted);
  expect(opened).toEqual(wanted);
});

test.each(NAMES)("%s: the starter policy keeps texts and ends", async (name) => {
  // A state that the policy withheld is none that the client sends back.
  const exchanges = read(name)
    .slice(0, PLAIN)
    .map((one) => ({ ...one, request: { ...one.request, state: {} } }));
  expect(exchanges.map(({ kind }) => kind)).toEqual(["text", "server tool"]);
  const agent = await startAgent(exchanges);
  const observed = await replay(await startBefore(agent, name, "observe"), exchanges);
  const enforced = await replay(await startBefore(agent, name, "starter"), exchanges);
  const plain = (runs: readonly Seen[]): unknown =>
    runs.map(({ counts, text, error }) => ({
      text,
      error,
      calls: counts["TOOL_CALL_START"],
      results: counts["TOOL_CALL_RESULT"],
      ends: counts["RUN_FINISHED"],
    }));
  expect(plain(enforced)).toEqual(plain(observed));
  expect(observed.every(({ text }) => text !== "")).toBe(true);
});
