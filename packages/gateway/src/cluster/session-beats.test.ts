import { expect, test } from "vitest";
import { OpenRunHandle } from "../runs/open-run-handle.js";
import { Sessions } from "../sessions/sessions.js";
import { MAX_SHOWN, SessionBeats } from "./session-beats.js";

const RUN = {
  runId: "r1",
  threadId: "t1",
  agent: "support",
  principal: "alice",
  client: {},
  transport: "sse",
  startedAt: 1,
} as const;

function open(): { sessions: Sessions; beats: SessionBeats; run: OpenRunHandle } {
  const sessions = new Sessions({ now: () => 1 }, 5000);
  const run = new OpenRunHandle(RUN, { abort: () => {} });
  sessions.addRun("s1", run);
  return { sessions, beats: new SessionBeats(sessions, "gw"), run };
}

test("a session is published when it is new and when a run in it begins or ends, and not otherwise", () => {
  const { beats, run } = open();
  const told = beats.next(0).changed;
  expect(told).toMatchObject([
    { session: "s1", lastSeen: 1, view: { id: "s1", gateways: ["gw"], runs: [{ gateway: "gw" }] } },
  ]);
  expect(beats.next(1000)).toEqual({ changed: [], gone: [] });
  run.end("finished", 2);
  expect(beats.next(2000).changed).toMatchObject([{ view: { runs: [{ status: "finished" }] } }]);
  expect(beats.next(3000).changed).toEqual([]);
});

test("counters alone are published every five seconds, however fast they grow", () => {
  const { sessions, beats } = open();
  let told = 0;
  for (let second = 0; second < 20; second += 1) {
    const session = sessions.find("s1");
    if (session !== undefined) session.counters.forwarded += 1000;
    told += beats.next(second * 1000).changed.length;
  }
  expect(told).toBe(4);
});

test("a dropped session is published as gone, and after a failure everything is published again", () => {
  const { sessions, beats } = open();
  beats.next(0);
  for (let count = 0; count < MAX_SHOWN; count += 1) sessions.open(`more-${count}`);
  expect(beats.next(1).gone).toEqual(["s1"]);
  const seconds = [2, 3, 4, 5, 6];
  const told = seconds.flatMap((second) => beats.next(second).changed);
  expect(told).toHaveLength(MAX_SHOWN - 200);
  beats.forget();
  expect(beats.next(7).changed).toHaveLength(200);
});
