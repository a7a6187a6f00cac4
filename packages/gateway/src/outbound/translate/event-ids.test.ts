import { expect, test } from "vitest";
import { envelope } from "../../testing/envelopes.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";
import { createEventIds } from "./claimed-ids.js";

test("a new id is kept, and a used or foreign id is replaced", () => {
  let count = 0;
  const idOf = createEventIds(
    () => ["u1"],
    () => `minted-${(count += 1)}`,
  );
  expect(["a", "b", "a", "u1", "c"].map(idOf)).toEqual(["a", "b", "minted-1", "minted-2", "c"]);
});

test("an agent cannot choose an id that stands for a place in a client's stream", () => {
  const idOf = createEventIds(
    () => [],
    () => "minted",
  );
  expect(["evt_01JD0Z.2", "evt_.7", "evt_a.b"].map(idOf)).toEqual(["minted", "minted", "evt_a.b"]);
});

test("ids over the limit are created rather than trusted", () => {
  const taken = Array.from({ length: 65_536 }, (_, index) => `${index}`);
  expect(
    createEventIds(
      () => taken.slice(1),
      () => "minted",
    )("new"),
  ).toBe("new");
  expect(
    createEventIds(
      () => taken,
      () => "minted",
    )("new"),
  ).toBe("minted");
});

test("an envelope agent can neither sign for another, nor reuse a receipt's id, nor write into a person's message", async () => {
  const gateway = createInProcess(OPEN_POLICY);
  const forged = { agent_id: "somebody-else", timestamp: 1 };
  const { delivered } = await gateway.run(
    { threadId: "t", runId: "r", messages: [{ id: "u1", role: "user", content: "hello" }] },
    frames([envelope("e1", forged), envelope("e1", forged), envelope("u1", forged)]),
    { agentDialect: "chio" },
  );
  await gateway.close();
  const receipts = gateway.recorder.drafts.map(({ receipt }) => receipt);
  expect(receipts.map(({ agent_id: agent }) => agent)).toEqual(["support", "support", "support"]);
  expect(receipts.every(({ timestamp }) => timestamp > 1)).toBe(true);
  const ids = receipts.map(({ event_id: id }) => id);
  expect(ids[0]).toBe("e1");
  expect(new Set(ids).size).toBe(3);
  expect(ids).not.toContain("u1");
  const starts = delivered.flatMap((event) =>
    event.type === "TEXT_MESSAGE_START" ? [event.messageId] : [],
  );
  expect(starts).toEqual(ids);
});
