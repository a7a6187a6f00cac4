// @vitest-environment happy-dom
import type { AgentStore, RenderHintView } from "@countersign/client";
import {
  createHarness,
  GOLDEN,
  GOLDEN_END,
  runOf,
  settle,
  textOf,
} from "@countersign/client/testing";
import { act, StrictMode } from "react";
import type { ReactNode } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { AgentProvider, RenderHint, useAgent, useAgentSelector } from "./index.js";
import type { Agent } from "./index.js";

const { started, finished } = runOf(1);

const ACT = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
beforeAll(() => {
  ACT.IS_REACT_ACT_ENVIRONMENT = true;
});
afterAll(() => {
  delete ACT.IS_REACT_ACT_ENVIRONMENT;
});

const mounted: (() => void)[] = [];
afterEach(() => {
  for (const unmount of mounted.splice(0)) unmount();
});

function draw(node: ReactNode): { element: HTMLElement; unmount: () => void } {
  const element = document.createElement("div");
  const root = createRoot(element);
  act(() => root.render(node));
  const unmount = (): void => act(() => root.unmount());
  mounted.push(unmount);
  return { element, unmount };
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
  await act(async () => {
    harness.transport.last().send(...events);
    await settle();
    harness.frame();
  });
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

function LastText({ store }: { store?: AgentStore }): ReactNode {
  const { status, messages } = useAgent(store);
  return `${status}: ${String(messages.at(-1)?.content)}`;
}

test("a component shows the conversation of the nearest provider", async () => {
  const harness = await streaming();
  const { element } = draw(
    <AgentProvider agent={createHarness().store}>
      <AgentProvider agent={harness.store}>
        <LastText />
      </AgentProvider>
    </AgentProvider>,
  );
  await receive(harness, delta("Hi"));
  expect(element.textContent).toBe("streaming: Hi");
});

test("a component shows the store that it is given", async () => {
  const harness = await streaming();
  const { element } = draw(<LastText store={harness.store} />);
  await receive(harness, delta("Hi"));
  expect(element.textContent).toBe("streaming: Hi");
});

test("without a provider or a store the mistake is named", () => {
  const quiet = vi.spyOn(console, "error").mockImplementation(() => {});
  expect(() => draw(<LastText />)).toThrow("AgentProvider");
  quiet.mockRestore();
});

test("a thousand deltas in one frame draw once", async () => {
  const harness = await streaming();
  let drawn = 0;
  function Counter(): ReactNode {
    drawn += 1;
    return String(useAgent(harness.store).messages.at(-1)?.content);
  }
  const { element } = draw(<Counter />);
  drawn = 0;
  await receive(harness, ...Array.from({ length: 1000 }, () => delta("x")));
  expect(drawn).toBe(1);
  expect(element.textContent).toBe("x".repeat(1000));
});

test("a selector draws only when its part is another one", async () => {
  const harness = await streaming();
  let drawn = 0;
  function Status(): ReactNode {
    drawn += 1;
    return useAgentSelector(({ status }) => status, undefined, harness.store);
  }
  const { element } = draw(<Status />);
  drawn = 0;
  await receive(harness, delta("x"));
  expect(drawn).toBe(0);
  await receive(harness, { type: "TEXT_MESSAGE_END", messageId: "a" }, finished);
  expect(drawn).toBe(1);
  expect(element.textContent).toBe("done");
});

test("a selector that builds fresh objects neither loops nor draws without need", async () => {
  const harness = await streaming();
  const seen: { count: number }[] = [];
  function Count(): ReactNode {
    const part = useAgentSelector(
      ({ messages }) => ({ count: messages.length }),
      (left, right) => left.count === right.count,
      harness.store,
    );
    seen.push(part);
    return part.count;
  }
  const { element } = draw(<Count />);
  await receive(harness, delta("x"));
  expect(element.textContent).toBe("2");
  expect(new Set(seen).size).toBe(1);
  await receive(harness, { type: "TEXT_MESSAGE_END", messageId: "a" }, ...textOf("b", "y"));
  expect(element.textContent).toBe("3");
  expect(new Set(seen).size).toBe(2);
});

test("no listener is left when the last component has gone", async () => {
  const { store, listeners } = counted((await streaming()).store);
  function Status(): ReactNode {
    return useAgentSelector(({ status }) => status, undefined, store);
  }
  const { unmount } = draw([<LastText key="a" store={store} />, <Status key="b" />]);
  expect(listeners()).toBe(2);
  unmount();
  expect(listeners()).toBe(0);
});

test("what can be asked for is asked of the store", async () => {
  const harness = createHarness();
  let agent: Agent | undefined;
  function Keeper(): ReactNode {
    agent = useAgent(harness.store);
    return agent.messages.length;
  }
  const { element } = draw(<Keeper />);
  await act(async () => {
    void agent?.send("hello");
    await settle();
  });
  expect(element.textContent).toBe("1");
  act(() => agent?.stop());
  expect(harness.store.getSnapshot().status).toBe("stopped");
  expect(agent).toMatchObject({ resume: harness.store.resume, retry: harness.store.retry });
});

test("a server draws the first snapshot without subscribing", async () => {
  const harness = await streaming();
  const { store, listeners } = counted(harness.store);
  const html = renderToString(<LastText store={store} />);
  expect(html).toBe("idle: undefined");
  expect(listeners()).toBe(0);
});

test("a hint is drawn by the page's component with the agent's values", () => {
  const hint: RenderHintView = { id: "hint-1", component: "Chart", props: { symbol: "AAPL" } };
  const Chart = ({ symbol }: { symbol: string }): ReactNode => <b>{symbol}</b>;
  const { element } = draw(<RenderHint hint={hint} components={{ Chart }} />);
  expect(element.innerHTML).toBe("<b>AAPL</b>");
});

test("a hint that the page does not know or refuses draws the fallback or nothing", () => {
  const hint: RenderHintView = { id: "hint-1", component: "constructor", props: {} };
  const Fallback = ({ hint: { component } }: { hint: RenderHintView }): ReactNode =>
    `no ${component}`;
  expect(draw(<RenderHint hint={hint} components={{}} />).element.innerHTML).toBe("");
  const { element } = draw(<RenderHint hint={hint} components={{}} fallback={Fallback} />);
  expect(element.textContent).toBe("no constructor");
  const Chart = (): ReactNode => "chart";
  const refused = { ...hint, component: "Chart" };
  const accept = (): undefined => undefined;
  expect(
    draw(<RenderHint hint={refused} components={{ Chart }} accept={accept} />).element.innerHTML,
  ).toBe("");
});

test("a hint cannot reach markup, handlers or slots of a component", () => {
  const props = {
    title: "fine",
    children: "slot",
    dangerouslySetInnerHTML: { __html: "<i>" },
    onClick: "x",
    key: "k",
    ref: "r",
  };
  const Careless = (given: object): ReactNode => <p {...given} />;
  const hint: RenderHintView = { id: "hint-1", component: "Careless", props };
  const { element } = draw(<RenderHint hint={hint} components={{ Careless }} />);
  expect(element.innerHTML).toBe('<p title="fine"></p>');
});

test("the golden recording ends in the same state as in the client", async () => {
  const harness = createHarness();
  function Everything(): ReactNode {
    const { messages, state, interrupts, status } = useAgent(harness.store);
    return JSON.stringify({ messages, state, interrupts, status });
  }
  const { element } = draw(<Everything />);
  await act(async () => {
    void harness.store.send("Plan my Monday");
    await settle();
  });
  for (const event of GOLDEN) await receive(harness, event);
  expect(JSON.parse(element.textContent)).toEqual({ ...GOLDEN_END, status: "waiting" });
});

test("React: Strict Mode subscribes and leaves in pairs", async () => {
  const harness = await streaming();
  const { store, listeners } = counted(harness.store);
  const { element, unmount } = draw(
    <StrictMode>
      <LastText store={store} />
    </StrictMode>,
  );
  expect(listeners()).toBe(1);
  await receive(harness, delta("Hi"));
  expect(element.textContent).toBe("streaming: Hi");
  unmount();
  expect(listeners()).toBe(0);
});

test("React: a page takes over what the server drew and then shows the present", async () => {
  const harness = await streaming();
  const errors = vi.spyOn(console, "error");
  const element = document.createElement("div");
  element.innerHTML = renderToString(<LastText store={harness.store} />);
  act(() => {
    const root = hydrateRoot(element, <LastText store={harness.store} />);
    mounted.push(() => act(() => root.unmount()));
  });
  expect(element.textContent).toBe("streaming: ");
  expect(errors).not.toHaveBeenCalled();
  errors.mockRestore();
});
