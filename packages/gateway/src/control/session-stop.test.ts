import { Hono } from "hono";
import { expect, test } from "vitest";
import type { Fleet } from "../cluster/fleet.js";
import type { OrderAnswer, StoppedRun } from "../sessions/orders.js";
import { OpenRunHandle } from "../runs/open-run-handle.js";
import { Sessions } from "../sessions/sessions.js";
import type { ControlEnv } from "./control-env.js";
import type { OperatorActs } from "./operator-acts.js";
import { addSessionRoutes } from "./session-routes.js";

/** The control plane of a gateway with the run `here`; the other gateways give these answers. */
function beside(answers: readonly OrderAnswer[], isPartial: boolean) {
  const sessions = new Sessions({ now: () => 1 });
  const facts = {
    runId: "here",
    threadId: "t",
    principal: "alice",
    client: {},
    agent: "support",
  } as const;
  const run = { ...facts, transport: "sse", startedAt: 1 } as const;
  sessions.addRun("s", new OpenRunHandle(run, { abort: () => {} }));
  const asked: unknown[] = [];
  const noted: string[] = [];
  const fleet: Pick<Fleet, "stopFor" | "sessions"> = {
    stopFor: async (...order) => {
      asked.push(order);
      return { answers, isPartial };
    },
    sessions: async () => [],
  };
  const acts: Pick<OperatorActs, "operator" | "recordStopped"> = {
    operator: "admin-1a2b3c4d",
    recordStopped: async (stopped: readonly StoppedRun[]) => {
      noted.push(...stopped.map((one) => one.run));
      return true;
    },
  };
  const app = new Hono<ControlEnv>();
  const all = { sessions, fleet: fleet as Fleet, gateway: "a" };
  addSessionRoutes(
    app,
    all,
    () => acts as OperatorActs,
    async () => undefined,
    (_context, principal) => principal,
  );
  const stop = async (path: string): Promise<unknown> =>
    (await app.request(path, { method: "POST" })).json();
  return { stop, asked, noted };
}

const stopped = (run: string): StoppedRun[] => [{ session: "s", run, thread: "t", agent: "a" }];
const SIGNED: OrderAnswer = { gateway: "b", stopped: stopped("there"), signs: true };
const UNSIGNED: OrderAnswer = { gateway: "c", stopped: stopped("older") };

test("the requesting gateway signs for its own runs, and for those of a gateway that does not sign itself", async () => {
  const { stop, asked, noted } = beside([SIGNED, UNSIGNED], false);
  expect(await stop("/v1/sessions/s/stop")).toEqual({
    session_id: "s",
    stopped: [
      { run_id: "here", gateway: "a" },
      { run_id: "there", gateway: "b" },
      { run_id: "older", gateway: "c" },
    ],
  });
  expect(asked).toEqual([["admin-1a2b3c4d", { session: "s" }]]);
  expect(noted).toEqual(["here", "older"]);
});

test.each([
  [SIGNED, "there", []],
  [UNSIGNED, "older", ["older"]],
])(
  "a run at another gateway has one receipt, whichever gateway signs it",
  async (answer, run, receipts) => {
    const { stop, noted } = beside([answer], false);
    expect(await stop(`/v1/sessions/s/runs/${run}/stop`)).toMatchObject({ status: "stopped" });
    expect(noted).toEqual(receipts);
  },
);

test("the response reports a gateway that did not answer and may have runs of the session", async () => {
  const { stop } = beside([SIGNED], true);
  expect(await stop("/v1/sessions/s/stop")).toMatchObject({ partial: true });
});
