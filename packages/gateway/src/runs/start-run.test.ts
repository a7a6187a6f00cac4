import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { LightSignal } from "@countersign/core";
import { ANONYMOUS } from "../access/access.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { SILENT_SINK } from "../testing/silent-sink.js";
import { startRun } from "./start-run.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

test("an open run keeps no bytes of its request in memory", async () => {
  fixture = await startFixture(HELD_AGENT);
  const { context } = fixture.gateway;
  const begin = async () => {
    const input = { threadId: "t", runId: "held", protocolVersion: "1.0", messages: [] };
    const upstream = context.agents.find("support");
    if (upstream === undefined) throw new Error("no agent");
    const bytes = new TextEncoder().encode(JSON.stringify(input));
    const started = await startRun(context, {
      upstream,
      bytes,
      sessionId: "session",
      threadScope: "",
      principal: ANONYMOUS,
      connectionId: "connection",
      transport: "sse",
      gone: new LightSignal(),
      openSink: () => SILENT_SINK,
    });
    return { started, bytes: new WeakRef(bytes) };
  };
  const { started, bytes } = await begin();
  await vi.waitFor(() => {
    collect();
    // Compared here: a failed expectation would keep a reference to its subject.
    expect(bytes.deref() === undefined).toBe(true);
  });
  expect(started.handle.status).toBe("running");
  started.handle.stop("enough");
  await started.done;
});

test("an open run on a socket keeps no bytes of its request either", async () => {
  fixture = await startFixture(HELD_AGENT);
  const { sessions } = fixture.gateway.context;
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws?session=s`);
  await new Promise((resolve) => socket.once("open", resolve));
  const input = { threadId: "t", runId: "held", protocolVersion: "1.0", messages: [] };
  const held = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = held();
  // White space between members, which the parsed input does not keep.
  socket.send(JSON.stringify(input).replace(",", `,${" ".repeat(8 * 1024 * 1024)}`));
  await vi.waitFor(() => expect(sessions.find("s")?.runs.size).toBe(1));
  await vi.waitFor(() => expect(held() - before).toBeLessThan(4 * 1024 * 1024));
  expect(sessions.find("s")?.runs.get("held")?.status).toBe("running");
  socket.terminate();
});
