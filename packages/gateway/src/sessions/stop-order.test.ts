import { expect, test } from "vitest";
import { OpenRunHandle } from "../runs/open-run-handle.js";
import { Sessions } from "./sessions.js";
import { createGatewayName } from "../cluster/gateway-name.js";
import { stopRuns } from "./orders.js";
import type { StopOrder } from "./orders.js";

/** Three runs of two people in two sessions; the last one is over. */
function open(): { sessions: Sessions; stop(order: StopOrder): string[]; reasons: unknown[] } {
  const sessions = new Sessions({ now: () => 1 });
  const reasons: unknown[] = [];
  const enter = (session: string, runId: string, threadId: string, principal: string) => {
    const facts = {
      runId,
      threadId,
      principal,
      client: {},
      agent: "a",
      transport: "sse",
      startedAt: 1,
    } as const;
    const handle = new OpenRunHandle(facts, { abort: (reason) => void reasons.push(reason) });
    sessions.addRun(session, handle);
    return handle;
  };
  enter("s1", "r1", "t1", "alice");
  enter("s1", "r2", "t2", "bob");
  enter("s2", "r3", "t1", "alice");
  enter("s2", "r4", "t4", "alice").end("finished", 2);
  const stop = (order: StopOrder): string[] =>
    stopRuns(sessions, order, "because").map(({ session, run }) => `${session}/${run}`);
  return { sessions, stop, reasons };
}

test.each<[StopOrder, string[]]>([
  [{ session: "s1" }, ["s1/r1", "s1/r2"]],
  [{ session: "s1", run: "r2" }, ["s1/r2"]],
  [{ session: "s1", thread: "t1" }, ["s1/r1"]],
  [{ session: "s1", principal: "alice" }, ["s1/r1"]],
  [{ session: "s1", run: "r2", principal: "alice" }, []],
  [{ session: "s2" }, ["s2/r3"]],
  [{ session: "s2", run: "r4" }, []],
  [{ session: "unknown" }, []],
  [{ thread: "t1", run: "r3", principal: "alice" }, ["s2/r3"]],
  [{ thread: "t1", principal: "alice" }, []],
  [{ run: "r1" }, []],
  [{ principal: "alice" }, []],
  [{}, []],
])("of an order %j exactly these runs end", (order, expected) => {
  const { stop, reasons } = open();
  expect(stop(order)).toEqual(expected);
  expect(reasons).toHaveLength(expected.length);
  expect(stop(order)).toEqual([]);
});

test("a gateway's name has its host's name and a random suffix, whatever the host is called", () => {
  expect(createGatewayName("pod-7f")).toMatch(/^pod-7f-[0-9a-f]{8}$/u);
  expect(createGatewayName("pod-7f")).not.toBe(createGatewayName("pod-7f"));
  expect(createGatewayName("")).toMatch(/^gateway-[0-9a-f]{8}$/u);
  expect(createGatewayName(`a b\u0000"${"x".repeat(300)}`)).toMatch(/^[A-Za-z0-9.-]{1,72}$/u);
});
