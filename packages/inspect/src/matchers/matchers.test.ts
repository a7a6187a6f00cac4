import { expect, test } from "vitest";
import type { AgUiMatchers } from "./index.js";
import { matchers, toBeValidAgUi } from "./index.js";

declare module "vitest" {
  interface Matchers<T> extends AgUiMatchers<T> {}
}

expect.extend(matchers);

const GOOD = [
  { type: "RUN_STARTED", threadId: "t", runId: "r" },
  { type: "RUN_FINISHED", threadId: "t", runId: "r" },
];

test("a valid stream passes, as objects and as texts", () => {
  expect(GOOD).toBeValidAgUi();
  expect(GOOD.map((event) => JSON.stringify(event))).toBeValidAgUi({ failOn: "warning" });
});

test("a broken stream fails, and the message names rule, event and remedy", () => {
  const cut = GOOD.slice(0, 1);
  expect(cut).not.toBeValidAgUi();
  const { message } = toBeValidAgUi(cut);
  expect(message()).toMatch(/error run\/truncated at event 1: .*Send RUN_FINISHED/s);
});

test("warnings fail when asked for, and a rule can be switched off", () => {
  const odd = [GOOD[0], { type: "PROGRESS" }, GOOD[1]];
  expect(odd).toBeValidAgUi();
  expect(odd).not.toBeValidAgUi({ failOn: "warning" });
  expect(odd).toBeValidAgUi({ failOn: "warning", severities: { "event/unknown-type": "off" } });
});

test("a value that is not a list of events fails without a throw", () => {
  for (const value of [undefined, 5, "x", {}]) expect(toBeValidAgUi(value).pass).toBe(false);
  expect(toBeValidAgUi([undefined, () => 1, 7n.toString()]).pass).toBe(false);
  expect(() => toBeValidAgUi([], { severities: { "no/rule": "off" } })).toThrow(TypeError);
});
