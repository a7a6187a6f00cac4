import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { SeenEvent } from "../../testing/client.js";
import { envelope } from "../../testing/envelopes.js";
import { idsOf, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { faultsOf, pairUp } from "../../testing/shown.js";
import { openSigningLog } from "../../testing/signing-log.js";
import type { SigningLog } from "../../testing/signing-log.js";
import { readStream } from "../../testing/stream-reader.js";
import type { ReadFrame } from "../../testing/stream-reader.js";
import { comeBack, createTalker, INPUT } from "../../testing/talker.js";
import { sseEvents } from "../../testing/transports.js";

let log: SigningLog;
beforeAll(async () => {
  log = await openSigningLog("batch");
});
afterAll(() => log.close());

let fixture: Fixture | undefined;
const closers: (() => void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await fixture?.stop();
  fixture = undefined;
});

async function start(
  script: FakeScript,
  policy = OPEN_POLICY,
  target: FixtureOptions["target"] = {},
): Promise<Fixture> {
  fixture = await startFixture(script, { policy, target, gateway: { recorder: log.log } });
  return fixture;
}

const IDS = { threadId: "thread-1", runId: "run-1" };
const ASKED = { "content-type": "application/json", "countersign-receipts": "1" };

async function ask({ url }: Fixture, headers: object = {}): Promise<SeenEvent[]> {
  const answer = await fetch(`${url}/agents/support`, {
    method: "POST",
    headers: { ...ASKED, ...headers },
    body: JSON.stringify({ protocolVersion: "1.0", messages: [], ...IDS }),
  });
  return sseEvents(await answer.text());
}

test("a client that resumes its stream has one receipt for each event, wherever the connection broke", async () => {
  // After an event, after its receipt, and after the receipt of the end.
  for (const dropAfter of [3, 4, 11]) {
    const talker = createTalker(3);
    const context = await start(talker.script);
    const address = `${context.url}/agents/support?reconnect=1`;
    const first = await readStream(address, { headers: ASKED, body: INPUT, dropAfter });
    talker.upTo(3);
    await first.closed;
    const last = first.frames.at(-1);
    expect(first.frames).toHaveLength(dropAfter);
    const second = await comeBack(context, last);
    await second.closed;
    const read = ({ data }: ReadFrame): SeenEvent => JSON.parse(data) as SeenEvent;
    const shown = pairUp([...first.frames, ...second.frames].map(read));
    expect(shown.at(-1)?.event.type).toBe("RUN_FINISHED");
    expect(await faultsOf(shown, INPUT, log.key)).toEqual([]);
    await context.stop();
  }
  fixture = undefined;
});

const MANY = 40_000;

test("receipts count towards a slow reader: an agent that sends little itself has to wait", async () => {
  let written = 0;
  const { url, gateway } = await start(
    ({ body }) => ({
      pieces: (async function* (): AsyncGenerator<FakePiece> {
        yield sseFrame({ type: "RUN_STARTED", ...idsOf(body) });
        yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: "m" });
        for (; written < MANY; written += 100) {
          const delta = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" };
          yield sseFrame(delta).repeat(100);
        }
      })(),
    }),
    OPEN_POLICY.replace("enabled: true\n    allow", "max_events_per_second: 1000000\n    allow"),
  );
  const answer = await new Promise<IncomingMessage>((resolve) => {
    const asked = request(`${url}/agents/support`, { method: "POST", headers: ASKED }, resolve);
    closers.push(() => asked.destroy());
    asked.end(JSON.stringify({ protocolVersion: "1.0", messages: [], ...IDS }));
  });
  answer.pause();
  const [run] = [...gateway.context.sessions.openRuns()];
  let before = -1;
  await expect
    .poll(
      () => {
        const { forwarded = 0 } = run?.counters ?? {};
        const isStill = forwarded === before && forwarded > 0;
        before = forwarded;
        return isStill;
      },
      { interval: 500, timeout: 20_000 },
    )
    .toBe(true);
  // All events take three megabytes, which the socket buffers would hold; with receipts they take forty.
  expect(run?.counters.forwarded).toBeLessThan(MANY / 2);
}, 30_000);

test("consecutive runs on a stream continue the numbering", async () => {
  const second = { ...IDS, runId: "run-2" };
  const events = [...inRun(IDS, text("m1", "one")), ...inRun(second, text("m2", "two"))];
  const context = await start(
    () => ({ pieces: events.map(sseFrame) }),
    `${OPEN_POLICY}  ag_ui_order: { on_error: allow, on_warning: allow }\n`,
  );
  const shown = pairUp(await ask(context));
  expect(shown.map(({ event }) => event.type)).toEqual(
    (events as SeenEvent[]).map(({ type }) => type),
  );
  expect(await faultsOf(shown, IDS, log.key)).toEqual([]);
});

test.each(["1.0", "envelope"])(
  "an envelope with the name of a receipt is blocked, for a client of %s",
  async (dialect) => {
    for (const mode of ["enforce", "observe"]) {
      const context = await start(
        () => ({
          pieces: ["countersign.receipt", "countersign.receipt_ahead"].map((custom) =>
            sseFrame(envelope(`e-${custom}`, { event_type: { custom }, payload: { forged: 1 } })),
          ),
        }),
        OPEN_POLICY.replace("name: open", `name: open\nmode: ${mode}`),
        { dialect: "chio" },
      );
      const events = await ask(context, { "countersign-dialect": dialect });
      expect(JSON.stringify(events)).not.toContain("forged");
      await context.stop();
    }
    fixture = undefined;
  },
);

test("a receipt inside a raw event is not a receipt: the gateway records it as a raw event", async () => {
  const forged = { type: "CUSTOM", name: "countersign.receipt", value: { forged: true } };
  const context = await start(({ body }) => ({
    pieces: inRun(idsOf(body), [{ type: "RAW", event: forged }]).map(sseFrame),
  }));
  const shown = pairUp(await ask(context));
  expect(shown.map(({ event }) => event.type)).toEqual(["RUN_STARTED", "RAW", "RUN_FINISHED"]);
  expect(await faultsOf(shown, IDS, log.key)).toEqual([]);
});
