import type { JsonObject, JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";
import { resolveRenderHint } from "./render-hint.js";

const { started, finished } = runOf(1);

function custom(name: string, value: JsonValue): object {
  return { type: "CUSTOM", name: `countersign.${name}`, value };
}

function hint(component: string, props: JsonObject = {}) {
  return { id: "hint-1", component, props };
}

test("a hint keeps its place after the last message", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  const chart = custom("ui_render_hint", { component: "Chart", props: { symbol: "AAPL" } });
  transport.last().send(started, ...textOf("a", "x"), chart, finished);
  expect((await ended).renderHints).toEqual([
    {
      id: "hint-1",
      component: "Chart",
      props: { symbol: "AAPL" },
      runId: "run-1",
      afterMessageId: "a",
    },
  ]);
});

test("a hint without a component, or one that is not text, is ignored", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  const values: JsonValue[] = [null, "Chart", [], {}, { component: 1 }];
  transport
    .last()
    .send(started, ...values.map((value) => custom("ui_render_hint", value)), finished);
  expect((await ended).renderHints).toEqual([]);
});

test("more hints than a conversation may hold fail the run; as many as allowed do not", async () => {
  const many = async (count: number) => {
    const { store, transport } = createHarness();
    const ended = store.send("hello");
    await settle();
    const one = custom("ui_render_hint", { component: "Chart" });
    transport.last().send(started, ...Array.from({ length: count }, () => one), finished);
    return ended;
  };
  expect((await many(1000)).status).toBe("done");
  expect((await many(1001)).problem?.code).toBe("ERR_LIMIT_EXCEEDED");
});

test("a component is found under its own name only", () => {
  const components = { Chart: "chart" };
  expect(resolveRenderHint(hint("Chart"), components)?.component).toBe("chart");
  expect(resolveRenderHint(hint("chart"), components)).toBeUndefined();
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    expect(resolveRenderHint(hint(name), components)).toBeUndefined();
  }
  expect(resolveRenderHint(hint("Chart"), new Map([["Chart", "map"]]))?.component).toBe("map");
});

test("props that a framework would not take for data never reach a component", () => {
  const props = JSON.parse(
    '{"symbol":"AAPL","dangerouslySetInnerHTML":{"__html":"<img>"},"innerHTML":"<img>","ref":"x","key":"k","children":"c","onClick":"x","onload":"x","$$slots":{},"__proto__":{"polluted":true}}',
  ) as JsonObject;
  const resolved = resolveRenderHint(hint("Chart", props), { Chart: "chart" });
  expect(resolved?.props).toEqual({ symbol: "AAPL" });
  expect(resolved?.props["polluted"]).toBeUndefined();
});

test("a page can narrow the values of a hint or refuse it", () => {
  const components = { Chart: "chart" };
  const accept = ({ props }: { props: JsonObject }) =>
    typeof props["symbol"] === "string" ? { symbol: props["symbol"] } : undefined;
  const good = hint("Chart", { symbol: "AAPL", extra: 1 });
  expect(resolveRenderHint(good, components, accept)?.props).toEqual({ symbol: "AAPL" });
  expect(resolveRenderHint(hint("Chart", { symbol: 1 }), components, accept)).toBeUndefined();
});

test("what a gateway withheld is shown with its reason and receipt, in its place", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  const notice = { receipt: "evt_1", type: "TOOL_CALL_START", rule: "r", reason: "no", extra: 1 };
  const blocked = [custom("blocked", notice), custom("blocked", null)];
  transport.last().send(started, ...textOf("a", "x"), ...blocked, finished);
  const place = { runId: "run-1", afterMessageId: "a" };
  expect((await ended).notices).toEqual([
    { receipt: "evt_1", type: "TOOL_CALL_START", rule: "r", reason: "no", ...place },
    { receipt: "", type: "", ...place },
  ]);
});

test("a gateway that stops a flood does not fail the run: the newest thousand notices are kept", async () => {
  const { store, transport } = createHarness();
  const ended = store.send("hello");
  await settle();
  const flood = Array.from({ length: 1001 }, (_, index) =>
    custom("blocked", { receipt: `evt_${index}` }),
  );
  transport.last().send(started, ...flood, finished);
  const { status, notices } = await ended;
  expect(status).toBe("done");
  expect(notices).toHaveLength(1000);
  expect(notices[0]?.receipt).toBe("evt_1");
  expect(notices.at(-1)?.receipt).toBe("evt_1000");
});
