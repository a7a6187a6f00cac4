import { expect, test } from "vitest";
import type { Entry } from "../api/responses.js";
import { entry } from "../testing/decisions.js";
import { treeOf } from "./drawing-tree.js";
import type { DrawingNode } from "./drawing-tree.js";
import { drawingsOf, MAX_COMPONENTS } from "./drawings.js";
import type { Drawn } from "./drawings.js";
import { shorten } from "./shorten.js";
import { stepsOf } from "./steps.js";

const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const TARGET = { target: { component_type: "a2ui-surface" }, event_type: "lifecycle" } as const;

const draws = (components: readonly object[], messageId = "m", surfaceId = "s"): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId,
  activityType: "a2ui-surface",
  content: {
    a2ui_operations: [
      { version: "v0.9", createSurface: { surfaceId, catalogId: CATALOGUE } },
      { version: "v0.9", updateComponents: { surfaceId, components } },
    ],
  },
});
const button = (id: string, name: string, text = "View invoice"): object[] => [
  { id, component: "Button", child: `${id}-t`, action: { event: { name, context: { to: "x" } } } },
  { id: `${id}-t`, component: "Text", text },
];
const column = (...children: string[]): object => ({ id: "root", component: "Column", children });
const click = (name: string, messages: readonly object[] = []): object => ({
  messages,
  forwardedProps: {
    a2uiAction: {
      userAction: { name, surfaceId: "s", sourceComponentId: "b", context: { to: "x" } },
    },
  },
});

/** What is drawn of payloads in order; a text instead of an object is the reason why the next one is blocked. */
function drawn(...payloads: readonly (object | string)[]): (Drawn | undefined)[] {
  const entries: Entry[] = [];
  const kept = new Map<number, object>();
  let reason: string | undefined;
  for (const payload of payloads) {
    if (typeof payload === "string") reason = payload;
    else {
      const seq = entries.length;
      const denial = reason === undefined ? {} : { allowed: false, denial_reason: reason };
      entries.push(entry(seq, { ...TARGET, ...denial }));
      kept.set(seq, payload);
      reason = undefined;
    }
  }
  const { drawn: found } = drawingsOf({ entries, payloads: kept });
  return entries.map(({ seq }) => found.get(seq));
}

function outline(nodes: readonly DrawingNode[]): unknown[] {
  return nodes.map(({ component, children, hasDecided }) => [
    `${component.id}${hasDecided ? "!" : ""}`,
    ...(children.length === 0 ? [] : [outline(children)]),
  ]);
}
const trees = (one: Drawn | undefined): unknown[] | undefined =>
  one?.surfaces.map((surface) => outline(treeOf(surface, one.reason).roots));

test("a surface is its components in boxes, and the text of a button is its label", () => {
  const [one] = drawn(
    draws([column("b", "x"), ...button("b", "open"), { id: "x", component: "Text", text: "Hi" }]),
  );
  expect(trees(one)).toEqual([[["root", [["b"], ["x"]]]]]);
  const [, pressed] = one?.surfaces[0]?.components ?? [];
  expect(pressed?.component).toMatchObject({ label: "View invoice", actions: [{ name: "open" }] });
});

test("a blocked drawing has the component that decided, and does not change what the person sees", () => {
  const good = draws([column("b"), ...button("b", "open")]);
  const bad = draws([column("b"), ...button("b", "transfer")]);
  const patch = [{ op: "replace", path: "/content", value: 1 }];
  const delta = { type: "ACTIVITY_DELTA", messageId: "m", activityType: "a2ui-surface", patch };
  const [first, blocked, delayed] = drawn(good, 'a2ui:Button "s/b" says "view"', bad, {
    ...delta,
    patch: [{ op: "add", path: "/more", value: 1 }],
  });
  expect(trees(blocked)).toEqual([[["root", [["b!"]]]]]);
  expect(delayed?.surfaces[0]?.components).toEqual(first?.surfaces[0]?.components);
});

test("arguments of a rendering tool and results of tools are drawn too", () => {
  const args = JSON.stringify({
    surfaceId: "s",
    components: [column("b"), ...button("b", "open")],
  });
  const call = { toolCallId: "c" };
  const content = (draws([column("b"), ...button("b", "open")]) as { content: object }).content;
  const [, , , called, result] = drawn(
    { type: "TOOL_CALL_START", ...call, toolCallName: "render_a2ui" },
    { type: "TOOL_CALL_ARGS", ...call, delta: args.slice(0, 40) },
    { type: "TOOL_CALL_ARGS", ...call, delta: args.slice(40) },
    { type: "TOOL_CALL_END", ...call },
    { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "d", content: JSON.stringify(content) },
  );
  expect([trees(called), trees(result)]).toEqual([[[["root", [["b"]]]]], [[["root", [["b"]]]]]]);
});

test("an MCP App and HTML are facts", () => {
  const [app, html] = drawn(
    {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "a",
      activityType: "mcp-apps",
      content: { resourceUri: "ui://maps/one", serverId: "maps", result: {}, toolInput: {} },
    },
    {
      type: "ACTIVITY_SNAPSHOT",
      messageId: "h",
      activityType: "open-generative-ui",
      content: {
        html: ["<form><input type=password></form><script>1</script>"],
        generating: false,
      },
    },
  );
  expect(app?.surfaces[0]?.surface.app).toMatchObject({
    resourceUri: "ui://maps/one",
    serverId: "maps",
  });
  expect(html?.surfaces[0]?.surface.html).toMatchObject({ forms: 1, scripts: 1 });
  expect(html?.surfaces[0]?.components[0]?.component.inputs[0]?.isSecret).toBe(true);
});

test("a click has the label that the run knows, and a click that is refused says what was pressed", () => {
  const messages = [
    { id: "m", ...(draws([column("b"), ...button("b", "open")]) as object), role: "activity" },
  ];
  const entries = [
    entry(0, TARGET, { direction: "inbound" }),
    entry(
      1,
      { ...TARGET, allowed: false },
      { direction: "inbound", rule: "ag_ui_request.actions" },
    ),
  ];
  const payloads = new Map([
    [0, click("open", messages)],
    [1, click("steal", messages)],
  ]);
  expect([...drawingsOf({ entries, payloads }).labels.values()]).toEqual([
    ["View invoice"],
    [undefined],
  ]);
  expect(
    stepsOf(entries, payloads).map(({ verdict, text, clicks }) => [verdict, text, clicks]),
  ).toEqual([
    [
      "allowed",
      "",
      [expect.objectContaining({ action: "open", surfaceId: "s", componentId: "b" })],
    ],
    ["blocked", "", [expect.objectContaining({ action: "steal", contextKeys: ["to"] })]],
  ]);
});

test("a large or deep surface is drawn in part and says so, and a broken one draws nothing and harms nothing", () => {
  const many = Array.from({ length: 1_000 }, (_, at) => ({
    id: `t${at}`,
    component: "Text",
    text: "x",
  }));
  const deep = Array.from({ length: 500 }, (_, at) => ({
    id: at === 0 ? "root" : `c${at}`,
    component: "Card",
    child: `c${at + 1}`,
  }));
  const [large, nested] = drawn(
    draws([column(...many.map(({ id }) => id)), ...many]),
    draws(deep, "n"),
  );
  expect(large?.surfaces[0]).toMatchObject({ isCut: true });
  expect(large?.surfaces[0]?.components).toHaveLength(MAX_COMPONENTS);
  expect(nested?.problems.length).toBeGreaterThan(0);
  const height = (nodes: readonly DrawingNode[]): number =>
    nodes.length === 0 ? 0 : 1 + Math.max(...nodes.map(({ children }) => height(children)));
  for (const surface of nested?.surfaces ?? []) {
    const { roots, leftOut } = treeOf(surface, undefined);
    expect(height(roots)).toBeLessThanOrEqual(6);
    expect(leftOut).toBe(surface.components.length - height(roots));
  }
  for (const odd of [null, 7, "x", [], { a2ui_operations: 7 }, { a2ui_operations: [null] }]) {
    expect(() =>
      drawn({ ...draws([]), content: odd }, "why", { ...draws([]), content: odd }),
    ).not.toThrow();
  }
});

test("a long text is displayed with its length", () => {
  expect(shorten("short")).toBe("short");
  expect(shorten("x".repeat(10_000))).toMatch(/^x{300}… \(10,000 characters\)$/u);
});
