import type { SurfaceFacts } from "@countersign/surface";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { EventContext } from "../../event/event-context.js";
import { createInProcess, frames } from "../../testing/in-process.js";
import { CATALOGUE } from "../../testing/surface-thread.js";

const IDS = { threadId: "t", runId: "r" };
const USER = { id: "u", role: "user" as const, content: "Hi." };
const INPUT = { ...IDS, messages: [USER] };
const TYPES = ["Text", "Column", "Button", "Card", "TextField"];

type Mode = "enforce" | "observe";
type Modes = { readonly all: Mode; readonly components: Mode; readonly surfaces: Mode };
const ENFORCE: Modes = { all: "enforce", components: "enforce", surfaces: "enforce" };

const policy = (types: readonly string[], modes: Modes = ENFORCE): string => `hushspec: "0.1.0"
name: undo
mode: ${modes.all}
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
  ag_ui_components:
    allow_components: ${JSON.stringify([
      "chat-window",
      "a2ui-surface",
      "note",
      "search",
      "render_a2ui",
      ...types.map((type) => `a2ui:${type}`),
    ])}
    default: block
    mode: ${modes.components}
  ag_ui_surfaces: { catalogues: [{ id: "${CATALOGUE}" }], mode: ${modes.surfaces} }
`;

const id = fc.constantFrom("root", "a", "b", "c");
const word = fc.constantFrom("View", "Pay", "Password", "x");
const text = fc.oneof(
  word,
  fc.constantFrom("/title", "/items/0/name", "name").map((path) => ({ path })),
);
const children = fc.oneof(
  fc.array(id, { maxLength: 3 }),
  id.map((componentId) => ({ componentId, path: "/items" })),
);
const component = fc.oneof(
  fc.record({ id, component: fc.constant("Text"), text }),
  fc.record({ id, component: fc.constant("Column"), children }),
  fc.record({ id, component: fc.constant("Card"), child: id }),
  fc.record({ id, component: fc.constant("TextField"), label: text, value: text }),
  fc.record({
    id,
    component: fc.constant("Button"),
    child: id,
    action: fc.constantFrom("view", "pay").map((name) => ({ event: { name, context: {} } })),
  }),
);
const data = fc.oneof(
  fc.record({
    path: fc.constant("/"),
    value: fc.record({
      title: word,
      items: fc.array(fc.record({ name: word }), { maxLength: 3 }),
    }),
  }),
  fc.record({ path: fc.constant("/title"), value: word }),
  fc.record({ path: fc.constant("/items/0/name"), value: word }),
);
const surfaceId = fc.constantFrom("s", "s", "s", "z");
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(surfaceId, fc.array(component, { maxLength: 4 })) },
  { weight: 3, arbitrary: fc.tuple(surfaceId, data) },
  { weight: 1, arbitrary: fc.tuple(surfaceId, fc.constant(null)) },
);
const creates = (id: string): object => ({
  version: "v0.9",
  createSurface: { surfaceId: id, catalogId: CATALOGUE },
});
const content = fc.array(operation, { maxLength: 4 }).map((parts) => ({
  a2ui_operations: [
    creates("s"),
    ...parts.flatMap(([id, part]): object[] => {
      const open = id === "s" ? [] : [creates(id)];
      if (part === null) return [{ version: "v0.9", deleteSurface: { surfaceId: id } }];
      if (!Array.isArray(part)) {
        return [...open, { version: "v0.9", updateDataModel: { surfaceId: id, ...part } }];
      }
      return [...open, { version: "v0.9", updateComponents: { surfaceId: id, components: part } }];
    }),
  ],
}));

const messageId = fc.constantFrom("m1", "m2");
const activityType = fc.constantFrom("a2ui-surface", "a2ui-surface", "a2ui-surface", "note");
const snapshot = fc
  .record({ messageId, activityType, content, replace: fc.constantFrom(true, true, true, false) })
  .map((one) => [{ type: "ACTIVITY_SNAPSHOT", ...one }]);
const delta = fc
  .record({
    messageId,
    activityType,
    patch: fc.oneof(
      content.map(({ a2ui_operations: value }) => [
        { op: "replace", path: "/a2ui_operations", value },
      ]),
      content.map(({ a2ui_operations: all }) => [
        { op: "add", path: "/a2ui_operations/-", value: all.at(-1) },
      ]),
    ),
  })
  .map((one) => [{ type: "ACTIVITY_DELTA", ...one }]);
const result = content.map((value) => [
  { type: "TOOL_CALL_START", toolCallId: "CALL", toolCallName: "search" },
  { type: "TOOL_CALL_END", toolCallId: "CALL" },
  {
    type: "TOOL_CALL_RESULT",
    messageId: "of CALL",
    toolCallId: "CALL",
    content: JSON.stringify(value),
  },
]);
const call = fc.array(component, { maxLength: 4 }).map((components) => [
  { type: "TOOL_CALL_START", toolCallId: "CALL", toolCallName: "render_a2ui" },
  {
    type: "TOOL_CALL_ARGS",
    toolCallId: "CALL",
    delta: JSON.stringify({ surfaceId: "s", catalogId: CATALOGUE, components }),
  },
  { type: "TOOL_CALL_END", toolCallId: "CALL" },
]);
const listed = fc
  .record({
    all: fc.uniqueArray(fc.tuple(messageId, content), { selector: ([one]) => one, maxLength: 2 }),
    drops: fc.boolean(),
  })
  .map(({ all, drops }) => [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        USER,
        ...all.map(([id, one]) => ({
          id,
          role: "activity",
          activityType: "a2ui-surface",
          content: one,
        })),
      ],
      ...(drops
        ? {
            metadata: { "@ag-ui/client": { authoritativeActivityTypes: ["a2ui-surface", "note"] } },
          }
        : {}),
    },
  ]);
const step: fc.Arbitrary<object[]> = fc.oneof(
  { weight: 5, arbitrary: snapshot },
  { weight: 4, arbitrary: delta },
  { weight: 1, arbitrary: result },
  { weight: 1, arbitrary: call },
  { weight: 1, arbitrary: listed },
);

function eventsOf(steps: readonly object[][]): object[] {
  return steps.flatMap((one, index) =>
    one.map(
      (event) => JSON.parse(JSON.stringify(event).replaceAll("CALL", `call-${index}`)) as object,
    ),
  );
}

/** Runs events, and returns what was delivered and what was read of each delivered event. */
async function play(text: string, events: readonly object[]) {
  const gateway = createInProcess(text);
  const all = [{ type: "RUN_STARTED", ...IDS }, ...events, { type: "RUN_FINISHED", ...IDS }];
  const { delivered, contexts, failures } = await gateway.run(INPUT, frames(all));
  await gateway.close();
  expect(failures).toEqual([]);
  const sent = delivered.filter(({ type }) => !type.startsWith("RUN_"));
  const read = contexts.filter(
    ({ event, decision, isListedPart }) =>
      isListedPart !== true && event?.type.startsWith("RUN_") === false && decision?.allow === true,
  );
  return { sent, read: read.map(formOf), denied: contexts.length - read.length };
}

function formOf({ event, surface, listedSurfaces = [] }: EventContext): object {
  const facts = surface === undefined ? listedSurfaces : [surface.facts];
  return { type: event?.type, facts: facts.map(factsOf), shown: surface?.shown };
}

function factsOf({ components, removed, surfaces, problems }: SurfaceFacts): object {
  return {
    components: components
      .map((one) => [one.componentId, one.scope, one.classification, one.label, one.subtreeHash])
      .map((one) => one.join(" "))
      .toSorted(),
    removed: removed.map(({ componentId, scope }) => `${componentId} ${scope}`).toSorted(),
    surfaces: surfaces.map(({ surfaceId, change }) => `${surfaceId} ${change}`).toSorted(),
    problems: problems.map(({ code, place }) => `${code} ${place}`).toSorted(),
  };
}

/** The same with its lists in one order. */
function unordered(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]: [string, unknown]) => [
      name,
      Array.isArray(member) ? member.map((one) => JSON.stringify(one)).toSorted() : member,
    ]),
  );
}

const isCyclic = (value: unknown): boolean => JSON.stringify(value).includes("surface/cycle");

test("what is read of an event depends only on the events that the client got", async () => {
  let blocked = 0;
  let passed = 0;
  const property = fc.asyncProperty(
    fc.subarray(TYPES, { minLength: 2 }),
    fc.array(step, { minLength: 3, maxLength: 10 }),
    async (types, steps) => {
      const events = eventsOf(steps);
      const rules = policy(types);
      const first = await play(rules, events);
      const again = await play(rules, first.sent);
      blocked += first.denied;
      passed += first.sent.length;
      // Which reference closes a cycle depends on which was there first.
      if (isCyclic(first.read) || isCyclic(again.read)) return;
      expect(again.sent).toEqual(first.sent);
      expect(again.read).toEqual(first.read);
    },
  );
  await fc.assert(property, { numRuns: 150 });
  // The property says nothing when all events pass, or none.
  expect(blocked).toBeGreaterThan(50);
  expect(passed).toBeGreaterThan(50);
});

const mode = fc.constantFrom("enforce" as const, "observe" as const);

/** The policy and each block have a mode of their own. */
const modes: fc.Arbitrary<Modes> = fc.record({ all: mode, components: mode, surfaces: mode });

/** The list has a message that an enforcing block withholds, and one that an observing block only reports. */
const OBSERVED_IN_LIST: Modes = { all: "observe", components: "observe", surfaces: "enforce" };
const column = { id: "root", component: "Column", children: [] };
const drawn = (...operations: object[]): object => ({
  a2ui_operations: [creates("s"), ...operations],
});
const updated = { version: "v0.9", updateComponents: { surfaceId: "s", components: [column] } };
const activity = (id: string, content: object): object => ({
  id,
  role: "activity",
  activityType: "a2ui-surface",
  content,
});
const LISTED: object[][] = [
  [
    {
      type: "ACTIVITY_DELTA",
      messageId: "m2",
      activityType: "a2ui-surface",
      patch: [{ op: "replace", path: "/a2ui_operations", value: [creates("s")] }],
    },
  ],
  [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [USER, activity("m2", drawn()), activity("m1", drawn(updated))],
    },
  ],
];

test("in every mode of the blocks, what is read of an event is what the client has", async () => {
  let blocked = 0;
  let observed = 0;
  const property = fc.asyncProperty(
    modes,
    fc.subarray(TYPES, { minLength: 2 }),
    fc.array(step, { minLength: 3, maxLength: 10 }),
    async (chosen, types, steps) => {
      const events = eventsOf(steps);
      const first = await play(policy(types, chosen), events);
      // A policy that lists everything: its reading is that of the client.
      const open = await play(policy(TYPES, { ...ENFORCE, surfaces: "observe" }), first.sent);
      blocked += first.denied;
      observed += chosen.components === "observe" || chosen.surfaces === "observe" ? 1 : 0;
      if (isCyclic(first.read) || isCyclic(open.read)) return;
      expect(open.sent).toEqual(first.sent);
      // Observe mode reads the messages of a list that no rule judges again after the others.
      expect(open.read.map(unordered)).toEqual(first.read.map(unordered));
    },
  );
  await fc.assert(property, { numRuns: 150, examples: [[OBSERVED_IN_LIST, ["Text"], LISTED]] });
  expect(blocked).toBeGreaterThan(20);
  expect(observed).toBeGreaterThan(20);
});
