import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { inRun, text } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { chunk, createInProcess, frames } from "../testing/in-process.js";
import type { UpstreamPiece } from "../agent/upstream.js";
import { RunTimer } from "./run-limits.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [] };
const [STARTED] = inRun(IDS, []) as [object];

afterEach(() => void vi.useRealTimers());

const sse = (written: string): UpstreamPiece => ({ kind: "sse", bytes: Buffer.from(written) });
const frame = (written: string): UpstreamPiece => ({ kind: "frame", text: written });

/** Bytes that an agent can send without sending an event. */
const noise = {
  sse: fc.oneof(
    fc.stringMatching(/^[ -~]{0,20}$/u).map((words) => sse(`: ${words}\n\n`)),
    fc
      .constantFrom("\n", "\n\n", "data:\n\n", "data: {}\n\n", "id: 7\n\n", "retry: 5\n\n")
      .map(sse),
    fc.constant(sse('event: ping\ndata: {"type":"A_TYPE_OF_2030","x":1}\n\n')),
    fc.constant(sse("data: [DONE]\n\n")),
  ),
  frame: fc
    .constantFrom("", " ", "{}", '{"type":"A_TYPE_OF_2030"}', ": ping\n\n", "[DONE]")
    .map(frame),
};

function* endless(
  first: UpstreamPiece,
  pieces: readonly UpstreamPiece[],
): Generator<UpstreamPiece> {
  yield first;
  for (;;) yield* pieces;
}

for (const kind of ["sse", "frame"] as const) {
  test(`a run whose agent sends anything but events (${kind}) ends as silent, with a receipt`, async () => {
    const first = kind === "sse" ? chunk([STARTED]) : (frames([STARTED])[0] as UpstreamPiece);
    await fc.assert(
      fc.asyncProperty(fc.array(noise[kind], { minLength: 1, maxLength: 6 }), async (pieces) => {
        const gateway = createInProcess(CHAT_POLICY, { listenLimits: { runSilenceMs: 5 } });
        const { delivered, failures } = await gateway.run(INPUT, endless(first, pieces));
        await gateway.close();
        expect(delivered.at(-1)?.type).toBe("RUN_ERROR");
        expect(failures).toEqual(["AGENT_TIMEOUT"]);
        expect(gateway.recorder.drafts.at(-1)).toMatchObject({
          rule: "gateway/run-limit",
          receipt: { allowed: false, denial_reason: "run limit: ERR_RUN_SILENCE" },
        });
      }),
      { numRuns: 30 },
    );
  });
}

test("a run ends at its limits of events and bytes, whatever the agent sends", async () => {
  const unknown = frame('{"type":"A_TYPE_OF_2030"}');
  const events = { listenLimits: { runEvents: 40 } };
  const bytes = { listenLimits: { runBytes: 4000 } };
  const [started] = frames([STARTED]) as [UpstreamPiece];
  for (const [limits, pieces, code] of [
    [events, endless(started, [unknown]), "ERR_RUN_EVENTS"],
    [events, endless(started, frames(text("m", "x"))), "ERR_RUN_EVENTS"],
    [bytes, endless(started, frames(text("m", "x"))), "ERR_RUN_BYTES"],
    [bytes, endless(chunk([STARTED]), [sse(": x\n\n")]), "ERR_RUN_BYTES"],
    // A frame that never ends is not an event, and its bytes count.
    [bytes, endless(chunk([STARTED]), [sse("data: xxxx")]), "ERR_RUN_BYTES"],
  ] as const) {
    const gateway = createInProcess(CHAT_POLICY, limits);
    const { delivered } = await gateway.run(INPUT, pieces);
    await gateway.close();
    expect(delivered.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RUN_LIMIT" });
    expect(gateway.recorder.drafts.at(-1)).toMatchObject({
      rule: "gateway/run-limit",
      receipt: { denial_reason: `run limit: ${code}` },
    });
  }
});

test("several runs on one stream share its time limit", async () => {
  function* runs(): Generator<UpstreamPiece> {
    for (let index = 0; ; index += 1) {
      const ids = { threadId: "t", runId: index === 0 ? "r" : `r${index}` };
      yield chunk(inRun(ids, text(`m${index}`, "x")));
    }
  }
  const policy = CHAT_POLICY.replace("enabled: true", "max_events_per_second: 1000000");
  const gateway = createInProcess(policy, { listenLimits: { runMs: 100 } });
  const { delivered, failures } = await gateway.run(INPUT, runs());
  await gateway.close();
  expect(delivered.at(-1)?.type).toMatch(/^RUN_(?:FINISHED|ERROR)$/u);
  // Between two runs the stream just ends; within a run the client receives an error.
  expect(failures.every((code) => code === "RUN_LIMIT")).toBe(true);
});

test("a connection that stays open after its run is closed without an error", async () => {
  const gateway = createInProcess(CHAT_POLICY, { listenLimits: { runSilenceMs: 250 } });
  const whole = chunk(inRun(IDS, text("m", "x")));
  const { delivered, failures } = await gateway.run(INPUT, endless(whole, [sse(": ping\n\n")]));
  await gateway.close();
  expect(delivered.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(failures).toEqual([]);
});

test("only waiting for the agent counts as silence: neither a slow reader nor an event ends the run early", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const reached: string[] = [];
  const limits = {
    runMs: 100_000,
    runSilenceMs: 1000,
    runEvents: 1,
    runBytes: 1,
    encryptedBytes: 1,
  };
  const timer = new RunTimer(limits, ({ code }) => void reached.push(code));
  for (let index = 0; index < 20; index += 1) {
    timer.listen();
    vi.advanceTimersByTime(900);
    timer.pause();
    vi.advanceTimersByTime(3000);
    timer.progress();
  }
  expect(reached).toEqual([]);
  // The silence of several reads without an event adds up.
  for (let index = 0; index < 4 && reached.length === 0; index += 1) {
    timer.listen();
    vi.advanceTimersByTime(300);
    timer.pause();
    timer.listen();
  }
  expect(reached).toEqual(["ERR_RUN_SILENCE"]);
  timer.end();
});

test("events do not extend the time limit of a run", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const reached: string[] = [];
  const limits = { runMs: 5000, runSilenceMs: 1000, runEvents: 1, runBytes: 1, encryptedBytes: 1 };
  const timer = new RunTimer(limits, ({ code }) => void reached.push(code));
  for (let index = 0; index < 100 && reached.length === 0; index += 1) {
    timer.listen();
    vi.advanceTimersByTime(100);
    timer.progress();
  }
  expect(reached).toEqual(["ERR_RUN_TIME"]);
  timer.end();
});
