import { expect, test } from "vitest";
import type { RunAgentInput } from "@countersign/wire";
import { ClientState } from "./client-state.js";
import { classifyEvent } from "./event.js";
import { classifyInput } from "./input.js";
import { compileRefinements } from "./refinement.js";

const input = (fields: Partial<RunAgentInput>): RunAgentInput => ({
  threadId: "t",
  runId: "r",
  messages: [],
  ...fields,
});
const classes = (fields: Partial<RunAgentInput>, context = {}): string[] => {
  const facts = classifyInput(input(fields), context);
  return [facts, ...(facts.also ?? [])].map((aspect) => aspect.classification);
};

test("an empty request is display, also with the empty members clients send", () => {
  expect(classes({ state: {}, forwardedProps: {}, tools: [], context: [] })).toEqual(["display"]);
});

test("the strictest thing a request does comes first", () => {
  expect(
    classes({
      messages: [{ id: "1", role: "user", content: "yes" }],
      resume: [{ interruptId: "i", status: "resolved" }],
      forwardedProps: { model: "x" },
    }),
  ).toEqual(["submit", "display", "display", "mutate"]);
});

test("state that the agent sent itself is unchanged", () => {
  expect(classes({ state: { a: 1 } })).toContain("mutate");
  expect(classes({ state: { a: 1 } }, { stateEchoed: true })).toEqual(["display"]);
});

test("of a state only the keys that its client changed are judged", () => {
  const state = { cart: [1], ui: { open: true } };
  const refinements = compileRefinements({
    state: [
      { match: "/ui/**", classification: "display" },
      { match: "/cart/**", classification: "submit" },
    ],
  });
  expect(classes({ state }, { refinements })).toContain("submit");
  expect(classes({ state }, { refinements, writtenKeys: ["ui"] })).toEqual(["display", "display"]);
  expect(classes({ state }, { refinements, writtenKeys: ["cart"] })).toContain("submit");
  expect(classes({ state }, { refinements, writtenKeys: [] })).toEqual(["display"]);
});

test("a path of the state can be opened in one direction alone", () => {
  const refinements = compileRefinements({
    state: [
      { match: "/ui/**", classification: "display", direction: "inbound" },
      { match: "/cart/**", classification: "display", direction: "outbound" },
    ],
  });
  const told = (snapshot: object): string =>
    classifyEvent({ type: "STATE_SNAPSHOT", snapshot } as never, {
      refinements,
      client: new ClientState({}),
    }).classification;
  expect(classes({ state: { ui: 1 } }, { refinements })).toEqual(["display", "display"]);
  expect(classes({ state: { cart: 1 } }, { refinements })).toContain("mutate");
  expect(told({ cart: 1 })).toBe("display");
  expect(told({ ui: 1 })).toBe("mutate");
});

test("messages the gateway has judged before are not judged again", () => {
  const messages = [{ id: "1", role: "tool" as const, toolCallId: "c", content: "x" }];
  expect(classes({ messages })).toContain("mutate");
  expect(classes({ messages }, { knownMessages: 1 })).toEqual(["display"]);
});

test("declared tools are named", () => {
  expect(
    classifyInput(input({ tools: [{ name: "open", description: "" }] })).declaredTools,
  ).toEqual(["open"]);
});
