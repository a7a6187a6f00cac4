import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { createInProcess, frames } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [{ id: "u", role: "user" as const, content: "Hi." }] };
const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";

type Component = { readonly id: string; readonly component: string } & Record<string, unknown>;

const TEXT: Component = { id: "label", component: "Text", text: "View invoice" };
const BUTTON: Component = {
  id: "root",
  component: "Button",
  child: "label",
  action: { event: { name: "view_invoice", context: {} } },
};
const FIELD: Component = {
  id: "root",
  component: "TextField",
  label: "Order number",
  value: { path: "/order" },
};

const create = { version: "v0.9", createSurface: { surfaceId: "s", catalogId: CATALOGUE } };
const update = (...components: Component[]): object => ({
  version: "v0.9",
  updateComponents: { surfaceId: "s", components },
});
const drawing = (...components: Component[]): object => ({
  a2ui_operations: [create, update(...components)],
});
const snapshot = (content: object, activityType = "a2ui-surface"): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId: "a",
  activityType,
  content,
});
const delta = (patch: object[], activityType = "a2ui-surface"): object => ({
  type: "ACTIVITY_DELTA",
  messageId: "a",
  activityType,
  patch,
});
const call = (name: string, text: string): object[] => [
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: name },
  ...[...text].map((letter) => ({ type: "TOOL_CALL_ARGS", toolCallId: "c", delta: letter })),
  { type: "TOOL_CALL_END", toolCallId: "c" },
];
const result = (content: string): object => ({
  type: "TOOL_CALL_RESULT",
  messageId: "m",
  toolCallId: "c",
  content,
});

/** Every class is allowed without a token, so that the lists of components decide. */
const policy = (components: string, more = ""): string => `hushspec: "0.1.0"
name: surfaces
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_components:
    allow_components: [chat-window, a2ui-surface, note, render_a2ui, search, ${components}]
    default: block
  ag_ui_surfaces:
    catalogues:
      - id: ${CATALOGUE}
${more}`;

/** Runs events in one run and returns what the client got, with the decisions. */
async function play(text: string, events: readonly object[]) {
  const gateway = createInProcess(text);
  const all = [{ type: "RUN_STARTED", ...IDS }, ...events, { type: "RUN_FINISHED", ...IDS }];
  const { delivered, contexts, failures } = await gateway.run(INPUT, frames(all));
  const { drafts } = gateway.recorder;
  await gateway.close();
  expect(failures).toEqual([]);
  const types = delivered.map(({ type }) => type).filter((type) => !type.startsWith("RUN_"));
  const denials = contexts.flatMap(({ decision }) => (decision?.allow === false ? [decision] : []));
  return { types, denials, drafts, delivered };
}

/** One drawing, over every channel that a client draws from. The last event completes it. */
const CHANNELS: Record<string, (content: object) => object[]> = {
  "an activity": (content) => [snapshot(content)],
  "a patch of an activity": (content) => [
    snapshot({ a2ui_operations: [] }),
    delta([{ op: "replace", path: "", value: content }]),
  ],
  "a patch that changes the type": (content) => [
    snapshot(content, "note"),
    delta([{ op: "add", path: "/x", value: 1 }]),
  ],
  "arguments of a rendering tool": (content) => {
    const { a2ui_operations: operations } = content as { a2ui_operations: object[] };
    const components = operations.flatMap((one) =>
      "updateComponents" in one
        ? (one.updateComponents as { components: object[] }).components
        : [],
    );
    return call(
      "render_a2ui",
      JSON.stringify({ surfaceId: "s", catalogId: CATALOGUE, components }),
    );
  },
  "a tool result": (content) => [...call("search", "{}"), result(JSON.stringify(content))],
  "a message list": (content) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        ...INPUT.messages,
        { id: "a", role: "activity", activityType: "a2ui-surface", content },
      ],
    },
  ],
};

test.each(Object.keys(CHANNELS))(
  "a component that is not listed is blocked in %s",
  async (name) => {
    const events = CHANNELS[name]?.(drawing(BUTTON, TEXT)) ?? [];
    const open = await play(policy('"a2ui:*"'), events);
    expect(open.denials).toEqual([]);
    const closed = await play(policy('"a2ui:Text"'), events);
    expect(closed.denials[0]).toMatchObject({
      rule: "ag_ui_components",
      component: { type: "a2ui:Button", id: "s/root", action: "view_invoice" },
    });
    expect(JSON.stringify(closed.delivered)).not.toContain("view_invoice");
  },
);

const NAMED = "    rendering_tools: [show_card]\n    rendering_activities: [note]\n";
const LATER = [{ op: "add", path: "/a2ui_operations", value: [create, update(BUTTON, TEXT)] }];
const CARD = { surfaceId: "s", catalogId: CATALOGUE, components: [BUTTON, TEXT] };
const CARD_CALL = [
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "show_card" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: JSON.stringify(CARD) },
  { type: "TOOL_CALL_END", toolCallId: "c" },
];

test.each<[string, object[]]>([
  ["arguments of a tool", CARD_CALL],
  ["patches of an activity", [snapshot({}, "note"), delta(LATER, "note")]],
])("only a policy that names them reads %s as an interface", async (_, events) => {
  for (const [more, isJudged] of [
    ["", false],
    [NAMED, true],
  ] as const) {
    const closed = policy('"a2ui:Text", show_card', more);
    const { denials, delivered } = await play(closed, events);
    expect(denials[0]?.component?.type).toBe(isJudged ? "a2ui:Button" : undefined);
    expect(JSON.stringify(delivered).includes("view_invoice")).toBe(!isJudged);
    expect((await play(policy('"a2ui:*", show_card', more), events)).denials).toEqual([]);
  }
});

test("a patch of an activity that draws is judged, whatever its type", async () => {
  const events = [
    snapshot(drawing({ ...TEXT, id: "root" }), "note"),
    delta([{ op: "add", path: "/a2ui_operations/-", value: update(BUTTON, TEXT) }], "note"),
  ];
  expect((await play(policy('"a2ui:*"'), events)).denials).toEqual([]);
  const { denials, delivered } = await play(policy('"a2ui:Text"'), events);
  expect(denials[0]?.component).toMatchObject({ type: "a2ui:Button", id: "s/root" });
  expect(JSON.stringify(delivered)).not.toContain("view_invoice");
});

test("an action that comes after its label is judged with the label", async () => {
  const swapped = { ...BUTTON, action: { event: { name: "transfer_funds", context: {} } } };
  const { action: _none, ...bare } = BUTTON;
  const { denials, types } = await play(policy('"a2ui:*"'), [
    snapshot(drawing(bare as Component, TEXT)),
    snapshot({ a2ui_operations: [create, update(bare as Component, TEXT), update(swapped)] }),
  ]);
  expect(types).toEqual(["ACTIVITY_SNAPSHOT"]);
  expect(denials[0]).toMatchObject({ component: { id: "s/root", action: "transfer_funds" } });
  expect(denials[0]?.reason).toContain('says "view"');
});

test("a component has its own class: an input needs a token that a text does not", async () => {
  const strict = policy('"a2ui:*"').replace("[]", "[submit]");
  expect((await play(strict, [snapshot(drawing({ ...TEXT, id: "root" }))])).denials).toEqual([]);
  const { denials } = await play(strict, [snapshot(drawing(FIELD))]);
  expect(denials[0]).toMatchObject({
    rule: "ag_ui.capability",
    component: { type: "a2ui:TextField", id: "s/root" },
  });
});

test("a blocked drawing is taken back: the next one is judged by what the client has", async () => {
  const { types, denials } = await play(policy('"a2ui:Text"'), [
    { ...snapshot(drawing(BUTTON, TEXT)), messageId: "b" },
    snapshot(drawing({ ...TEXT, id: "root" })),
    snapshot({
      a2ui_operations: [
        create,
        update({ ...TEXT, id: "root" }),
        update({ ...TEXT, id: "root", text: "Paid" }),
      ],
    }),
  ]);
  expect(types).toEqual(["ACTIVITY_SNAPSHOT", "ACTIVITY_SNAPSHOT"]);
  expect(denials).toHaveLength(1);
});

test("an interface that cannot be read is blocked", async () => {
  const { denials, types } = await play(policy('"a2ui:*"'), [
    snapshot({ a2ui_operations: [create, { version: "v0.9", drawAnything: {} }] }),
  ]);
  expect(types).toEqual([]);
  expect(denials).toHaveLength(1);
});

test("the limits of the policy are those of the model", async () => {
  const small = policy('"a2ui:*"', "    limits: { components: 1 }\n");
  const { denials } = await play(small, [snapshot(drawing(BUTTON, TEXT))]);
  expect(denials[0]?.rule).toBe("ag_ui_surfaces.undecided");
  expect((await play(small, [snapshot(drawing({ ...TEXT, id: "root" }))])).denials).toEqual([]);
});

test("observe mode forwards every drawing and names the rule and the component", async () => {
  const observing = policy('"a2ui:Text"').replace("rules:", "mode: observe\nrules:");
  const { types, drafts } = await play(observing, [snapshot(drawing(BUTTON, TEXT))]);
  expect(types).toEqual(["ACTIVITY_SNAPSHOT"]);
  expect(drafts.some(({ rule }) => rule === "ag_ui_components")).toBe(true);
});

test("a block that enforces in a policy that observes withholds its components from lists too", async () => {
  const mixed = policy('"a2ui:Text"')
    .replace("rules:", "mode: observe\nrules:")
    .replace("default: block", "default: block\n    mode: enforce");
  const list = {
    type: "MESSAGES_SNAPSHOT",
    messages: [
      ...INPUT.messages,
      {
        id: "a",
        role: "activity",
        activityType: "a2ui-surface",
        content: drawing(BUTTON, TEXT),
      },
    ],
  };
  for (const events of [[snapshot(drawing(BUTTON, TEXT)), list], [list]]) {
    const { delivered } = await play(mixed, events);
    expect(JSON.stringify(delivered)).not.toContain("view_invoice");
  }
});

test("other activities and results are not read as interfaces", async () => {
  const events = [
    snapshot({ steps: [{ component: "Button" }] }, "note"),
    delta([{ op: "add", path: "/steps/0/id", value: "root" }], "note"),
    ...call("search", "{}"),
    result('{"hits":[{"component":"Button"}]}'),
  ];
  const { denials, types } = await play(policy('"a2ui:Text"'), events);
  expect(denials).toEqual([]);
  expect(types.filter((type) => type !== ("TOOL_CALL_ARGS" satisfies AgUiEvent["type"]))).toEqual([
    "ACTIVITY_SNAPSHOT",
    "ACTIVITY_DELTA",
    "TOOL_CALL_START",
    "TOOL_CALL_END",
    "TOOL_CALL_RESULT",
  ]);
});
