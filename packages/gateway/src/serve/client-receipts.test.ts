import { sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { faultsOf, pairUp } from "../testing/shown.js";
import { post, sseEvents } from "../testing/transports.js";

let served: Served | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

const COUNT = 300;
const talking: FakeScript = ({ body }) => {
  const many = Array.from({ length: COUNT }, (_, index) => text(`m${index}`, `word ${index}`));
  return { pieces: [inRun(idsOf(body), many.flat()).map(sseFrame).join("")] };
};

async function shownBy(config: string) {
  served = await startServed(talking, { config: `${config}\n` });
  const { dataUrl } = served.running;
  const run = { threadId: "t1", runId: "r1" };
  const answer = await post(`${dataUrl}/agents/support?receipts=1`, run);
  return { run, shown: pairUp(sseEvents(await answer.text())) };
}

test.each(["each", "batch"])(
  "a served gateway sends receipts that are in its log, under its key (%s)",
  async (sign) => {
    const { run, shown } = await shownBy(`receipts: { sign: ${sign}, durability: relaxed }`);
    expect(shown).toHaveLength(COUNT * 3 + 2);
    const receipt = shown[5]?.receipts[0] as { id: string; kernel_key: string };
    const { id, kernel_key: key } = receipt;
    expect(await faultsOf(shown, run, key)).toEqual([]);
    const kept = await served?.control(`/v1/receipts?id=${id}`);
    expect(await kept?.json()).toMatchObject({ entries: [{ receipt, run_id: "r1" }] });
  },
  30_000,
);

test("with to_clients: never it sends none", async () => {
  const { shown } = await shownBy("receipts: { to_clients: never, durability: relaxed }");
  expect(shown).toHaveLength(COUNT * 3 + 2);
  expect(shown.every(({ receipts }) => receipts.length === 0)).toBe(true);
});
