// @vitest-environment happy-dom
import type { AgentSnapshot, AgentStore, RenderHintView } from "@countersign/client";
import {
  createHarness,
  GOLDEN,
  GOLDEN_END,
  runOf,
  settle,
  textOf,
} from "@countersign/client/testing";
import type { Component, mount, unmount, flushSync } from "svelte";
import type { render } from "svelte/server";
import { afterEach, beforeAll, expect, test } from "vitest";
import type * as binding from "./index.js";
import type { Agent } from "./index.js";
import { bundleFor } from "./testing/compile.js";
import { COMPONENTS, ENTRY } from "./testing/components.js";

type Page = typeof binding & {
  mount: typeof mount;
  unmount: typeof unmount;
  flushSync: typeof flushSync;
} & Record<
    | "LastText"
    | "Provided"
    | "Nested"
    | "Status"
    | "Count"
    | "Both"
    | "Keeper"
    | "Hint"
    | "Chart"
    | "Fallback"
    | "Careless"
    | "Everything"
    | "Dollar",
    Component<Record<string, unknown>>
  >;

let page: Page;
beforeAll(async () => {
  page = await bundleFor<Page>("client", ENTRY, COMPONENTS);
});

const { started, finished } = runOf(1);

const mounted: (() => void)[] = [];
afterEach(() => {
  for (const leave of mounted.splice(0)) leave();
});

function draw(
  component: Component<Record<string, unknown>>,
  props: Record<string, unknown> = {},
): { element: HTMLElement; leave: () => void } {
  const element = document.createElement("div");
  const drawn = page.mount(component, { target: element, props });
  page.flushSync();
  let gone = false;
  const leave = (): void => {
    if (!gone) void page.unmount(drawn);
    gone = true;
  };
  mounted.push(leave);
  return { element, leave };
}

/** A harness with a run that streams into message `a`. */
async function streaming(): Promise<ReturnType<typeof createHarness>> {
  const harness = createHarness();
  void harness.store.send("hello");
  await settle();
  harness.transport.last().send(started, { type: "TEXT_MESSAGE_START", messageId: "a" });
  await settle();
  return harness;
}

function delta(text: string): object {
  return { type: "TEXT_MESSAGE_CONTENT", messageId: "a", delta: text };
}

async function receive(
  harness: ReturnType<typeof createHarness>,
  ...events: object[]
): Promise<void> {
  harness.transport.last().send(...events);
  await settle();
  harness.frame();
  page.flushSync();
}

/** Counts the listeners of a store. */
function counted(store: AgentStore): { store: AgentStore; listeners: () => number } {
  let listeners = 0;
  const subscribe = (listener: () => void): (() => void) => {
    listeners += 1;
    const leave = store.subscribe(listener);
    return () => {
      listeners -= 1;
      leave();
    };
  };
  return { store: { ...store, subscribe }, listeners: () => listeners };
}

function textIn(element: HTMLElement): string {
  return element.textContent.trim();
}

test("a component shows the conversation of the nearest provider", async () => {
  const harness = await streaming();
  const { element } = draw(page.Nested, { outer: createHarness().store, inner: harness.store });
  await receive(harness, delta("Hi"));
  expect(textIn(element)).toBe("streaming: Hi");
});

test("a component shows the store that it is given", async () => {
  const harness = await streaming();
  const { element } = draw(page.LastText, { store: harness.store });
  await receive(harness, delta("Hi"));
  expect(textIn(element)).toBe("streaming: Hi");
});

test("without a provider or a store the mistake is named", () => {
  expect(() => draw(page.LastText)).toThrow("AgentProvider");
});

test("a thousand deltas in one frame draw once", async () => {
  const harness = await streaming();
  let drawn = 0;
  const { element } = draw(page.LastText, { store: harness.store, drawn: () => (drawn += 1) });
  drawn = 0;
  await receive(harness, ...Array.from({ length: 1000 }, () => delta("x")));
  expect(drawn).toBe(1);
  expect(textIn(element)).toBe(`streaming: ${"x".repeat(1000)}`);
});

test("a selector draws only when its part is another one", async () => {
  const harness = await streaming();
  let drawn = 0;
  const { element } = draw(page.Status, { store: harness.store, drawn: () => (drawn += 1) });
  drawn = 0;
  await receive(harness, delta("x"));
  expect(drawn).toBe(0);
  await receive(harness, { type: "TEXT_MESSAGE_END", messageId: "a" }, finished);
  expect(drawn).toBe(1);
  expect(textIn(element)).toBe("done");
});

test("a selector that builds fresh objects neither loops nor draws without need", async () => {
  const harness = await streaming();
  const seen: object[] = [];
  const { element } = draw(page.Count, {
    store: harness.store,
    seen: (part: object) => seen.push(part),
  });
  await receive(harness, delta("x"));
  expect(textIn(element)).toBe("2");
  expect(new Set(seen).size).toBe(1);
  await receive(harness, { type: "TEXT_MESSAGE_END", messageId: "a" }, ...textOf("b", "y"));
  expect(textIn(element)).toBe("3");
  expect(new Set(seen).size).toBe(2);
});

test("no listener is left when the last component has gone", async () => {
  const { store, listeners } = counted((await streaming()).store);
  const { leave } = draw(page.Both, { store });
  expect(listeners()).toBe(2);
  leave();
  await settle();
  expect(listeners()).toBe(0);
});

test("what can be asked for is asked of the store", async () => {
  const harness = createHarness();
  const kept: Agent[] = [];
  const { element } = draw(page.Keeper, {
    store: harness.store,
    keep: (agent: Agent) => kept.push(agent),
  });
  const [agent] = kept;
  void agent?.send("hello");
  page.flushSync();
  expect(textIn(element)).toBe("1");
  agent?.stop();
  expect(harness.store.getSnapshot().status).toBe("stopped");
  expect(agent).toMatchObject({ resume: harness.store.resume, retry: harness.store.retry });
});

test("a server draws the first snapshot without subscribing", async () => {
  const server = await bundleFor<{
    render: typeof render;
    Provided: Component<{ store: AgentStore }>;
  }>(
    "server",
    'export { render } from "svelte/server"; export { default as Provided } from "Provided.svelte";',
    COMPONENTS,
  );
  const { store, listeners } = counted(createHarness().store);
  const { body } = server.render(server.Provided, { props: { store } });
  expect(body.replaceAll(/<!--.*?-->/g, "")).toBe("idle: undefined");
  expect(listeners()).toBe(0);
});

test("a hint is drawn by the page's component with the agent's values", () => {
  const hint: RenderHintView = { id: "hint-1", component: "Chart", props: { symbol: "AAPL" } };
  const { element } = draw(page.Hint, { hint, components: { Chart: page.Chart } });
  expect(markupIn(element)).toBe("<b>AAPL</b>");
});

test("a hint that the page does not know or refuses draws the fallback or nothing", () => {
  const hint: RenderHintView = { id: "hint-1", component: "constructor", props: {} };
  expect(markupIn(draw(page.Hint, { hint, components: {} }).element)).toBe("");
  const { element } = draw(page.Hint, { hint, components: {}, fallback: page.Fallback });
  expect(textIn(element)).toBe("no constructor");
  const refused = { ...hint, component: "Chart" };
  const accept = (): undefined => undefined;
  const components = { Chart: page.Chart };
  expect(markupIn(draw(page.Hint, { hint: refused, components, accept }).element)).toBe("");
});

test("a hint cannot reach markup, handlers or slots of a component", () => {
  const props = {
    title: "fine",
    children: "slot",
    innerHTML: "<i>",
    onclick: "x",
    $$slots: {},
  };
  const hint: RenderHintView = { id: "hint-1", component: "Careless", props };
  const { element } = draw(page.Hint, { hint, components: { Careless: page.Careless } });
  expect(markupIn(element)).toBe('<p title="fine"></p>');
});

test("the golden recording ends in the same state as in the client", async () => {
  const harness = createHarness();
  const { element } = draw(page.Everything, { store: harness.store });
  void harness.store.send("Plan my Monday");
  await settle();
  for (const event of GOLDEN) await receive(harness, event);
  expect(JSON.parse(textIn(element))).toEqual({ ...GOLDEN_END, status: "waiting" });
});

test("Svelte: a readable gives the snapshot at once and after each change", async () => {
  const harness = await streaming();
  const seen: AgentSnapshot[] = [];
  const leave = page.agentReadable(harness.store).subscribe((snapshot) => seen.push(snapshot));
  expect(seen).toEqual([harness.store.getSnapshot()]);
  await receive(harness, delta("x"));
  expect(seen).toHaveLength(2);
  leave();
  await receive(harness, delta("y"));
  expect(seen).toHaveLength(2);
});

test("Svelte: a readable shows what came before its first subscriber", async () => {
  const harness = createHarness();
  const readable = page.agentReadable(harness.store);
  void harness.store.send("hello");
  await settle();
  const seen: string[] = [];
  readable.subscribe(({ status }) => seen.push(status))();
  expect(seen).toEqual(["connecting"]);
});

test("Svelte: a readable works with the dollar sign", async () => {
  const harness = await streaming();
  const { element } = draw(page.Dollar, { store: harness.store });
  expect(textIn(element)).toBe("streaming");
  harness.store.stop();
  page.flushSync();
  expect(textIn(element)).toBe("stopped");
});

test("Svelte: many readers of one store are one listener", async () => {
  const { store, listeners } = counted((await streaming()).store);
  draw(page.LastText, { store });
  draw(page.Everything, { store });
  expect(listeners()).toBe(1);
});

function markupIn(element: HTMLElement): string {
  return element.innerHTML.replaceAll(/<!--.*?-->/g, "").trim();
}
