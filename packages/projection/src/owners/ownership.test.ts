import { expect, test } from "vitest";
import { createLedgerProjection } from "../project.js";
import { createSafeEvent } from "../safe/event.js";
import { outline, projectAll } from "../testing/drive.js";
import { brokenRules } from "../testing/official-client.js";
import { row, transcript } from "../testing/sample-ledger.js";
import type { OwnerProjector } from "./owner.js";

const SHOP = "@shop/orders";
const order = { total: 12, customer: { name: "Ada", card: "4111-1111" } };

/** Shows only the total. */
const shop: OwnerProjector = {
  factOwnerRef: SHOP,
  projectSafeEvent: (event) =>
    createSafeEvent(event, { total: (event.payload as typeof order).total }),
};

/** Projects one product event inside run 1. */
function project(owners: OwnerProjector[], kind = "shop.order_placed", payload: unknown = order) {
  const [started] = transcript();
  const { frames, codes } = projectAll([started, row(2, kind, payload, SHOP)], { owners });
  return { frames: frames.slice(1, -1), codes: codes.slice(0, -1) };
}

test("B12: an entry for a built-in owner is ignored and reported", () => {
  const forged: OwnerProjector = {
    factOwnerRef: "@agent-os/runtime",
    projectSafeEvent: (event) => createSafeEvent(event, { stolen: event.payload as never }),
  };
  const projection = createLedgerProjection({ owners: [forged] });
  expect(projection.diagnostics).toEqual([
    {
      code: "ERR_PROJECTION_RESERVED_OWNER",
      message: "a built-in owner cannot be replaced",
      owner: "@agent-os/runtime",
    },
  ]);
  expect(projectAll(transcript(), { owners: [forged] }).frames).toEqual(
    projectAll(transcript()).frames,
  );
});

test("B13: a product event appears only through its owner's projector, without unlisted fields", () => {
  expect(project([])).toEqual({ frames: [], codes: ["NO_PROJECTOR"] });
  const { frames, codes } = project([shop]);
  expect(codes).toEqual([]);
  expect(frames).toMatchObject([
    {
      type: "CUSTOM",
      name: "shop.order_placed",
      value: { id: 2, kind: "shop.order_placed", safePayload: { total: 12 } },
    },
  ]);
  expect(JSON.stringify(frames)).not.toMatch(/Ada|4111/);
});

test("B14: a foreign owner's event of a built-in kind is a CUSTOM frame, never a lifecycle frame", () => {
  const { frames } = project([shop], "agent.run.completed");
  expect(outline(frames)).toEqual(["agent.run.completed"]);
});

test("B15: a CUSTOM name that is reserved or bare is dropped", () => {
  const names = [
    "agent-os.llm.usage",
    "Agent-OS.llm.usage",
    "ag-ui.x",
    "countersign.projection",
    "PredictState",
    "Exit",
    "on_interrupt",
    "",
  ];
  for (const name of names) {
    const custom: OwnerProjector = {
      ...shop,
      projectFrames: () => [{ type: "CUSTOM", name, value: 1 }],
    };
    expect(project([custom])).toEqual({ frames: [], codes: ["RESERVED_NAME"] });
  }
  expect(project([shop], "agent-os.fake").codes).toEqual(["RESERVED_NAME"]);
});

test("an owner listed twice is not projected at all", () => {
  const { frames, codes } = project([shop, shop]);
  expect({ frames, codes }).toEqual({ frames: [], codes: ["DUPLICATE_OWNER"] });
  const projection = createLedgerProjection({ owners: [shop, shop, shop] });
  expect(projection.diagnostics.map(({ code }) => code)).toEqual([
    "ERR_PROJECTION_DUPLICATE_OWNER",
    "ERR_PROJECTION_DUPLICATE_OWNER",
  ]);
});

test("a projector that throws, shows nothing, or answers for another event produces a diagnostic and no frame", () => {
  const answers: [string, OwnerProjector["projectSafeEvent"]][] = [
    [
      "PROJECTOR_FAILED",
      () => {
        throw new Error("card 4111-1111");
      },
    ],
    ["NOT_PROJECTED", () => undefined],
    ["IDENTITY", (event) => ({ ...createSafeEvent(event), id: 99 })],
    ["IDENTITY", (event) => ({ ...createSafeEvent(event), factOwnerRef: "@agent-os/runtime" })],
    ["IDENTITY", (event) => ({ ...createSafeEvent(event), kind: "shop.other" })],
    ["IDENTITY", (event) => ({ ...createSafeEvent(event), scopeKey: "session:x" })],
    ["IDENTITY", (event) => ({ ...createSafeEvent(event), ts: 0 })],
    ["IDENTITY", () => Promise.resolve() as never],
    ["UNSAFE_VALUE", (event) => createSafeEvent(event, { total: Number.NaN })],
    ["UNSAFE_VALUE", (event) => ({ ...createSafeEvent(event), safePayload: new Date() as never })],
  ];
  for (const [code, projectSafeEvent] of answers) {
    const [started] = transcript();
    const { diagnostics, frames } = projectAll([started, row(2, "shop.x", order, SHOP)], {
      owners: [{ factOwnerRef: SHOP, projectSafeEvent }],
    });
    expect(diagnostics[0]?.code).toBe(`ERR_PROJECTION_${code}`);
    expect(outline(frames)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(JSON.stringify(diagnostics)).not.toContain("4111");
  }
});

test("an owner cannot forge lifecycle, text, tool, reasoning, state or raw frames", () => {
  const forged = [
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
    { type: "RUN_ERROR", message: "m" },
    { type: "TEXT_MESSAGE_START", messageId: "m" },
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n" },
    { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: "" },
    { type: "REASONING_START", messageId: "m" },
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "MESSAGES_SNAPSHOT", messages: [] },
    { type: "RAW", event: {} },
    { type: "ACTIVITY_SNAPSHOT", messageId: `${SHOP}:1`, activityType: "x", content: {} },
    { type: "toString" },
    null,
    "RUN_FINISHED",
  ];
  const { frames, codes } = project([{ ...shop, projectFrames: () => forged }]);
  expect(frames).toEqual([]);
  expect(codes).toEqual(forged.map(() => "FRAME_REFUSED"));
});

test("a granted activity stays under ids of its owner and contains only its own fields", () => {
  const activity = (messageId: string) => ({
    type: "ACTIVITY_SNAPSHOT",
    messageId,
    activityType: "order",
    content: { total: 12 },
    rawEvent: { card: "4111" },
    metadata: { card: "4111" },
    subagentRunId: "x",
  });
  const owner: OwnerProjector = {
    ...shop,
    frameTypes: ["ACTIVITY_SNAPSHOT"],
    projectFrames: () => [
      activity(`${SHOP}:1`),
      activity("agent-os:run:1:turn:0:message:0"),
      { type: "ACTIVITY_SNAPSHOT", messageId: `${SHOP}:2`, activityType: 5, content: {} },
      { type: "CUSTOM", name: "shop.x", value: 1 },
    ],
  };
  const { frames, codes } = project([owner]);
  expect(frames).toEqual([
    {
      type: "ACTIVITY_SNAPSHOT",
      messageId: `${SHOP}:1`,
      activityType: "order",
      content: { total: 12 },
      timestamp: 1_763_200_000_002,
    },
  ]);
  expect(codes).toEqual(["FRAME_REFUSED", "FRAME_REFUSED", "FRAME_REFUSED"]);
});

test("a frame projector that throws or floods produces a diagnostic and no frame; 64 are allowed", () => {
  const many = (count: number): OwnerProjector => ({
    ...shop,
    projectFrames: () =>
      Array.from({ length: count }, () => ({ type: "CUSTOM", name: "shop.x", value: null })),
  });
  expect(project([many(64)]).frames).toHaveLength(64);
  expect(project([many(65)])).toEqual({ frames: [], codes: ["FRAME_REFUSED"] });
  const failing: OwnerProjector = {
    ...shop,
    projectFrames: () => {
      throw new Error("secret");
    },
  };
  expect(project([failing])).toEqual({ frames: [], codes: ["PROJECTOR_FAILED"] });
});

test("product frames before and after a run never leave it", () => {
  const rows = transcript().map((event) => ({ ...event, id: event.id + 1 }));
  for (const event of rows.slice(1)) {
    const payload = event.payload as { runId?: number; turn?: { id: number } };
    if (payload.runId !== undefined) payload.runId = 2;
    if (payload.turn !== undefined) payload.turn.id = 2;
  }
  const all = [row(1, "shop.early", order, SHOP), ...rows, row(9, "shop.late", order, SHOP)];
  const { frames, codes } = projectAll(all, { owners: [shop] });
  expect(outline(frames).slice(0, 2)).toEqual(["RUN_STARTED", "shop.early"]);
  expect(codes).toEqual(["OUTSIDE_RUN"]);
  expect(brokenRules(frames)).toEqual([]);
});

test("an entry without a name or a projector is the caller's mistake", () => {
  expect(() => createLedgerProjection({ owners: [{ ...shop, factOwnerRef: "" }] })).toThrow(
    TypeError,
  );
  expect(() => createLedgerProjection({ owners: [{ factOwnerRef: "x" } as never] })).toThrow(
    TypeError,
  );
});

test("the scrub rules apply to the output of owners, in safe events and in frames", () => {
  const chatty: OwnerProjector = {
    ...shop,
    projectSafeEvent: (event) => createSafeEvent(event, { note: "by Ada", Ada: 1 }),
    projectFrames: ({ safePayload }) => [
      { type: "CUSTOM", name: "shop.x", value: { safePayload, again: "Ada" } },
      { type: "CUSTOM", name: "shop.Ada", value: null },
    ],
  };
  const [started] = transcript();
  const projection = createLedgerProjection({
    owners: [chatty],
    disclosure: { scrub: { literals: ["Ada"] } },
  });
  projection.push(started);
  const { safeEvent, frames } = projection.push(row(2, "shop.x", order, SHOP));
  expect(safeEvent?.safePayload).toEqual({ note: "by [redacted]" });
  expect(JSON.stringify(frames)).not.toContain("Ada");
});
