import { sseFrame } from "@countersign/testkit";
import type { Message } from "@countersign/wire";
import { afterEach, expect, test } from "vitest";
import { createMemoryStore } from "../../store/memory-store.js";
import { call, idsOf, inRun, text } from "../../testing/events.js";
import { OPEN_POLICY, startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";

const fixtures: Fixture[] = [];
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await fixture.stop();
});

const POLICY = `${OPEN_POLICY}  ag_ui_tools:
    call: { block: [pay], default: allow }
    arguments: { send: { type: object, required: [to] } }
    quarantine: { denials: 2, window_seconds: 60 }
`;

type Call = readonly [id: string, tool: string, args: string];

/** The forms in which an agent can make calls. */
const FORMS: Record<string, (calls: readonly Call[], body: string) => object[]> = {
  streamed: (calls) => calls.flatMap(([id, tool, args]) => call(id, tool, args)),
  chunked: (calls) =>
    calls.map(([toolCallId, toolCallName, delta]) => {
      return { type: "TOOL_CALL_CHUNK", toolCallId, toolCallName, delta };
    }),
  listed: (calls, body) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [...(JSON.parse(body) as { messages: Message[] }).messages, ...messagesOf(calls)],
    },
  ],
};

function messagesOf(calls: readonly Call[]): Message[] {
  return calls.map(([id, name, args]) => ({
    id: `of-${id}`,
    role: "assistant",
    content: `text of ${id}`,
    toolCalls: [{ id, type: "function", function: { name, arguments: args } }],
  }));
}

/** Gateways on one ledger and one clock; each calls an agent that makes the calls the test names. */
function gateways(policy: string, now: { at: number }, form = "streamed") {
  const ledger = createMemoryStore({ now: () => now.at });
  let runs = 0;
  return async () => {
    let calls: readonly [tool: string, args: string][] = [];
    const fixture = await startFixture(
      ({ body }) => ({
        pieces: inRun(idsOf(body), [
          ...(FORMS[form]?.(
            calls.map(([tool, args], index) => [`c${runs}-${index}`, tool, args]),
            body,
          ) ?? []),
          ...text(`m${runs}`, "hi"),
        ]).map(sseFrame),
      }),
      { policy, gateway: { ledger, clock: { now: () => now.at } } },
    );
    fixtures.push(fixture);
    return {
      recorder: fixture.recorder,
      /** The tools whose calls were delivered. */
      run: async (threadId: string, ...made: readonly (string | [string, string])[]) => {
        runs += 1;
        calls = made.map((one) => (typeof one === "string" ? [one, "{}"] : one));
        const response = await fetch(`${fixture.url}/agents/support?session=s`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            threadId,
            runId: `r${runs}`,
            messages: [{ id: `u${runs}`, role: "user", content: "go" }],
            protocolVersion: "1.0",
          }),
        });
        const shown = await response.text();
        expect(shown).toContain("RUN_FINISHED");
        const names = /"(?:toolCallName|function":\{"name)":"([^"]+)"/gu;
        return [...shown.matchAll(names)].map(([, name]) => name);
      },
    };
  };
}

const rulesOf = (recorder: Fixture["recorder"]): (string | undefined)[] =>
  recorder.drafts.flatMap(({ rule, receipt }) => (receipt.allowed ? [] : [rule]));

test("denied calls of a thread close its tools for the window, and those of no other thread", async () => {
  const now = { at: 1_800_000_000_000 };
  const open = gateways(POLICY, now);
  const one = await open();
  expect(await one.run("t", "look", "pay")).toEqual(["look"]);
  expect(await one.run("t", "look")).toEqual(["look"]);
  // The second denial is for its arguments, and comes once they are complete.
  expect(await one.run("t", ["send", '{"to":"a"}'], "send", "look")).toEqual(["send"]);
  expect(await one.run("t", "look", ["send", '{"to":"a"}'], "pay")).toEqual([]);
  expect(await one.run("u", "look")).toEqual(["look"]);
  expect(rulesOf(one.recorder)).toContain("ag_ui_tools.quarantine");
  // A call that the quarantine denies does not extend it.
  now.at += 61_000;
  expect(await one.run("t", "look")).toEqual(["look"]);
});

const BY_CONDITION = POLICY.replace("block: [pay], ", "").concat(`  ag_ui_conditions:
    rules:
      - { id: no-pay, match: { tool: pay }, when: "true", reason: no }
`);

/** A call that is denied once its arguments are complete: its start is evaluated together with its end. */
const BY_CONDITION_HELD = BY_CONDITION.replace("arguments: {", "arguments: { pay: {},");

for (const form of Object.keys(FORMS)) {
  test(`a denied call counts once when it is ${form}, whichever rule denies it; the others stay`, async () => {
    for (const policy of [POLICY, BY_CONDITION, BY_CONDITION_HELD]) {
      const one = await gateways(policy, { at: 1_800_000_000_000 }, form)();
      expect(await one.run("t", "look", "pay", "find", "pay", "late")).toEqual(["look", "find"]);
      expect(rulesOf(one.recorder)).toContain("ag_ui_tools.quarantine");
    }
  });
}

test("another gateway and a restarted one keep the tools closed", async () => {
  const now = { at: 1_800_000_000_000 };
  const open = gateways(POLICY, now);
  const [one, other] = [await open(), await open()];
  await one.run("t", "pay");
  await other.run("t", "pay");
  expect(await one.run("t", "look")).toEqual([]);
  expect(await (await open()).run("t", "look")).toEqual([]);
  now.at += 61_000;
  expect(await other.run("t", "look")).toEqual(["look"]);
});

test("only the listed tools are closed, and tools with names that look like them", async () => {
  const policy = POLICY.replace("window_seconds: 60", "window_seconds: 60, closes: [send, look_*]");
  const one = await gateways(policy, { at: 1_800_000_000_000 })();
  expect(await one.run("t", "pay", "pay", "search", "look_up", "Look-Up", "lооk_up")).toEqual([
    "search",
  ]);
});

test("without the setting, and in observe mode, no tool is closed", async () => {
  const plain = POLICY.replace(/ {4}quarantine.*\n/u, "");
  for (const policy of [plain, POLICY.replace("name: open", "name: open\nmode: observe")]) {
    const one = await gateways(policy, { at: 1_800_000_000_000 })();
    const isPlain = policy === plain;
    const shown = await one.run("t", "pay", "pay", "pay", "look");
    expect(shown).toEqual(isPlain ? ["look"] : ["pay", "pay", "pay", "look"]);
    const noted = one.recorder.drafts.map(({ rule }) => rule);
    expect(noted.includes("ag_ui_tools.quarantine")).toBe(!isPlain);
  }
});
