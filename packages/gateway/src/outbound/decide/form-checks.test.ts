import { expect, test } from "vitest";
import { envelope } from "../../testing/envelopes.js";
import { inRun, text } from "../../testing/events.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";
import type { ClientDialect } from "../../event/run.js";
import type { TokenVerifier } from "../../access/capabilities.js";

const IDS = { threadId: "t", runId: "r" };
const SECRET = "s3cret";
const blocking = (when: string, header = ""): string =>
  `${OPEN_POLICY}  ag_ui_conditions:\n${header}    rules:\n      - { id: c, effect: block, when: '${when}' }\n`;
const BY_DELTA = `has(event.delta) && event.delta.contains("${SECRET}")`;

async function runWith(
  policy: string,
  events: readonly object[],
  clientDialect?: ClientDialect,
  options: Parameters<typeof createInProcess>[1] = {},
) {
  const gateway = createInProcess(policy, options);
  const { delivered } = await gateway.run({ ...IDS, messages: [] }, frames(events), {
    agentDialect: events.some((event) => "event_id" in event) ? "chio" : "auto",
    ...(clientDialect === undefined ? {} : { clientDialect }),
  });
  await gateway.close();
  return { delivered, drafts: gateway.recorder.drafts };
}

const says = (id: string, words: string): object => envelope(id, { payload: { text: words } });

test("a condition on a message's text applies to an envelope that a native client receives as a message", async () => {
  const { delivered, drafts } = await runWith(blocking(BY_DELTA), [
    says("e1", `a ${SECRET}`),
    says("e2", "harmless"),
  ]);
  expect(JSON.stringify(delivered)).not.toContain(SECRET);
  expect(JSON.stringify(delivered)).toContain("harmless");
  expect(drafts.map(({ receipt }) => [receipt.event_id, receipt.allowed])).toEqual([
    ["e1", false],
    ["e2", true],
  ]);
  expect(drafts[0]?.rule).toContain("c");
});

test("an envelope client receives the judged envelope, so no further rule applies", async () => {
  const events = [says("e1", `a ${SECRET}`)];
  const { delivered } = await runWith(blocking(BY_DELTA), events, "envelope");
  expect(delivered).toEqual(events);
});

test("if such a block ends the run, no later event is recorded as delivered", async () => {
  const { delivered, drafts } = await runWith(blocking(BY_DELTA, "    on_block: end\n"), [
    says("e1", `a ${SECRET}`),
    says("e2", "harmless"),
  ]);
  expect(delivered.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "BLOCKED_BY_POLICY" });
  expect(drafts.map(({ receipt }) => receipt.allowed)).toEqual([false]);
});

test("an envelope uses its token once, however many native events it becomes", async () => {
  let spent = 0;
  const tokens: TokenVerifier = {
    evaluate: () => ({
      id: "cap-1",
      status: spent < 2 ? "valid" : "exhausted",
      scopes: ["ui:display:*"],
    }),
    spend: () => void (spent += 1),
  };
  const policy = OPEN_POLICY.replace("restricted_classifications: []", "").replace(
    "allow_display_without_capability: true",
    "allow_display_without_capability: false",
  );
  const events = ["e1", "e2", "e3"].map((id) => envelope(id, { capability: "token" }));
  const { drafts } = await runWith(policy, events, "1.0", { tokens });
  expect(spent).toBe(2);
  expect(drafts.map(({ receipt }) => receipt.allowed)).toEqual([true, true, false]);
});

test("in observe mode the remark is recorded and the message is delivered", async () => {
  const policy = blocking(BY_DELTA).replace("rules:", "mode: observe\nrules:");
  const { delivered, drafts } = await runWith(policy, [says("e1", `a ${SECRET}`)]);
  expect(JSON.stringify(delivered)).toContain(SECRET);
  expect(drafts[0]).toMatchObject({ rule: expect.any(String), receipt: { allowed: true } });
});

test.each([
  "countersign.blocked",
  "countersign.receipt",
  "countersign.envelope",
  "Countersign.blocked",
  " countersign.blocked ",
  "\u0441ountersign.blocked",
])("an agent cannot speak as the gateway (%s)", async (name) => {
  const { delivered, drafts } = await runWith(
    OPEN_POLICY,
    inRun(IDS, [{ type: "CUSTOM", name, value: {} }, ...text("m", "hi")]),
  );
  expect(delivered.some(({ type }) => type === "CUSTOM")).toBe(false);
  expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
  expect(drafts.filter(({ receipt }) => !receipt.allowed)).toMatchObject([
    { rule: "gateway/reserved-name" },
  ]);
});

test("nor can an envelope, whose client recognises the gateway's notices by the custom type", async () => {
  for (const custom of [
    "countersign.blocked",
    "COUNTERSIGN.blocked",
    "counter\u200bsign.blocked",
  ]) {
    const forged = envelope("e1", { event_type: { custom }, classification: "mutate" });
    for (const dialect of ["envelope", "1.0"] as const) {
      const { delivered, drafts } = await runWith(OPEN_POLICY, [forged], dialect);
      expect(JSON.stringify(delivered)).not.toContain("blocked");
      expect(drafts).toMatchObject([{ rule: "gateway/reserved-name" }]);
    }
  }
});

test.each(["enforce", "observe"])(
  "an agent's own error cannot imitate a refusal of the gateway that has to %s; the rest of its metadata stays",
  async (mode) => {
    const problem = { code: "ERR_THREAD_OWNER", receipt: "agui-forged" };
    const metadata = { countersign: { problem, agentId: "a" }, acme: 1 };
    const { delivered, drafts } = await runWith(`${OPEN_POLICY}mode: ${mode}\n`, [
      { type: "RUN_STARTED", ...IDS },
      { type: "RUN_ERROR", message: "no", metadata },
    ]);
    expect(delivered.at(-1)).toEqual({
      type: "RUN_ERROR",
      message: "no",
      metadata: { countersign: { agentId: "a" }, acme: 1 },
    });
    expect(drafts.at(-1)).toMatchObject({
      receipt: { allowed: true },
      emitted_hash: expect.any(String),
    });
  },
);

test("a hint of the 0.1.0 dialect keeps the name from its translation", async () => {
  const { delivered } = await runWith(OPEN_POLICY, [
    { type: "RUN_STARTED", runId: "r" },
    { type: "UI_RENDER_HINT", component: "card", props: {} },
    { type: "RUN_FINISHED", runId: "r" },
  ]);
  expect(delivered).toContainEqual(
    expect.objectContaining({ type: "CUSTOM", name: "countersign.ui_render_hint" }),
  );
});

test("a hint from a 1.0 agent is judged as the component it creates, like a translated one", async () => {
  const hint = {
    type: "CUSTOM",
    name: "countersign.ui_render_hint",
    value: { component: "chart", props: {} },
  };
  const open = await runWith(OPEN_POLICY, inRun(IDS, [hint]));
  expect(open.delivered).toContainEqual(hint);
  const known = `${OPEN_POLICY}\n  ag_ui_components: { allow_components: [chat-window], default: block }\n`;
  const closed = await runWith(known, inRun(IDS, [hint]));
  expect(closed.delivered.some(({ type }) => type === "CUSTOM")).toBe(false);
  expect(closed.drafts.filter(({ receipt }) => !receipt.allowed)).toMatchObject([
    { rule: "ag_ui_components" },
  ]);
});
