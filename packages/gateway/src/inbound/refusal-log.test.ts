import { expect, test } from "vitest";
import { requestPolicy, sendTo } from "../testing/begun-thread.js";
import { startFixture } from "../testing/fixture.js";
import { createMovedClock } from "../testing/keyed-store-contract.js";

test("malformed requests get receipts at a bounded rate, and a receipt counts those left out", async () => {
  const clock = createMovedClock();
  const fixture = await startFixture(() => ({ pieces: [] }), {
    policy: requestPolicy(),
    gateway: { clock },
  });
  const { drafts } = fixture.recorder;
  for (let index = 0; index < 60; index += 1) await sendTo(fixture, "{");
  expect(drafts).toHaveLength(50);
  expect(drafts.at(-1)?.receipt.event_type).toEqual({ custom: "invalid request" });
  clock.time += 1000;
  expect((await sendTo(fixture, "{")).receipt).toMatch(/^agui-/);
  expect(drafts).toHaveLength(51);
  expect(drafts.at(-1)?.receipt.denial_reason).toContain("(and 10 more that were not signed for)");
  await fixture.stop();
});
