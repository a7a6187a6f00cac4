import { DEFAULT_LIMITS } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import type { ContentSettings } from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import { encodeProto } from "@countersign/wire/proto";
import { expect, test } from "vitest";
import { ContentWatch } from "./decide/content.js";
import { inRun } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { createInProcess, frames } from "../testing/in-process.js";
import type { EventContext } from "../event/event-context.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = {
  ...IDS,
  messages: [],
  state: {},
  tools: [],
  context: [],
} as unknown as RunAgentInput;

/** Rules, a condition and content reading: everything that reads a state. */
const RULES = `${OPEN_POLICY}  ag_ui_classify:
    state:
      - { match: "/cart/**", classification: display }
      - { match: "/x/*/y", classification: display }
      - { match: "/**/secret", classification: destroy }
  ag_ui_conditions:
    rules:
      - { id: c, when: 'has(event.delta) && event.delta.exists(op, op.path == "/nope")' }
  ag_ui_content: { read: [text, state, activities, custom] }
`;

const flat = (values: number, name = "key"): JsonObject =>
  Object.fromEntries(Array.from({ length: values }, (_, at) => [`${name}${at}`, at]));
const deep = (values: number): JsonObject => {
  let value = flat(values / 60);
  for (let at = 0; at < 58; at++) value = { ...flat(values / 60), inner: value };
  return value;
};
const patch = (values: number, path: (at: number) => string): object[] => [
  { op: "add", path: "/list", value: [] },
  ...Array.from({ length: values / 4 - 2 }, (_, at) => ({ op: "add", path: path(at), value: at })),
];
const card = { messageId: "m", activityType: "card" };

/** Events with this many values, in every form that can hold many. */
const SHAPES: Record<string, (values: number) => object> = {
  "a flat state": (values) => ({ type: "STATE_SNAPSHOT", snapshot: flat(values - 10) }),
  "a deep state": (values) => ({ type: "STATE_SNAPSHOT", snapshot: deep(values - 200) }),
  "a list of texts": (values) => ({
    type: "STATE_SNAPSHOT",
    snapshot: { list: Array.from({ length: values - 10 }, (_, at) => `text ${at}`) },
  }),
  "a patch of many members": (values) => ({
    type: "STATE_DELTA",
    delta: patch(values, (at) => `/key${at}`),
  }),
  "a patch of long pointers": (values) => ({
    type: "STATE_DELTA",
    delta: Array.from({ length: values / 50 }, (_, at) => ({
      op: "move",
      path: `/key${"/a~1b".repeat(12)}${at}`,
      from: `/key${"/a/b".repeat(11)}`,
    })),
  }),
  "a patch that fills a list from its front": (values) => ({
    type: "STATE_DELTA",
    delta: patch(values, () => "/list/0"),
  }),
  "an activity": (values) => ({ type: "ACTIVITY_SNAPSHOT", ...card, content: flat(values - 10) }),
  "a patch of an activity": (values) => ({
    type: "ACTIVITY_DELTA",
    ...card,
    patch: patch(values, (at) => `/key${at}`),
  }),
  "a custom event": (values) => ({ type: "CUSTOM", name: "x", value: flat(values - 10) }),
  "a message list": (values) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: Array.from({ length: values / 10 }, (_, at) => ({
      id: `m${at}`,
      role: "assistant",
      content: `text ${at}`,
    })),
  }),
  "a message list of calls": (values) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: [
      {
        id: "m",
        role: "assistant",
        toolCalls: Array.from({ length: values / 10 - 1 }, (_, at) => ({
          id: `c${at}`,
          type: "function",
          function: { name: "lookup", arguments: "{}" },
        })),
      },
    ],
  }),
  "a message list of subagents that were not announced": (values) => ({
    type: "MESSAGES_SNAPSHOT",
    messages: Array.from({ length: values / 10 }, (_, at) => ({
      id: `m${at}`,
      role: "assistant",
      content: `text ${at}`,
      subagentRunId: `s${at}`,
    })),
  }),
};

/**
 * Processor time, the least of several tries, so that other programs on the machine have no effect. A try below `bound`
 * is the last one: further tries could only be less.
 */
async function cost(work: () => unknown, tries = 3, bound = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < tries && least >= bound; at++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  return least;
}

const MOST = DEFAULT_LIMITS.maxEventValues;

test.each(
  Object.keys(SHAPES).flatMap((shape) => [
    [shape, "open", OPEN_POLICY] as const,
    [shape, "rules", RULES] as const,
  ]),
)(
  "%s costs in proportion to its size (%s)",
  async (shape, _name, policy) => {
    const gateway = createInProcess(policy);
    const make = SHAPES[shape] as (values: number) => object;
    const pieces = (values: number) => frames(inRun(IDS, [make(values)]));
    const small = pieces(MOST / 8);
    const large = pieces(MOST);
    await gateway.run(INPUT, small);
    // The fixed cost of a run is part of both measurements.
    const few = await cost(() => gateway.run(INPUT, small), 5);
    const many = await cost(() => gateway.run(INPUT, large), 3, 32 * few);
    await gateway.close();
    // Eight times the size; quadratic cost would be 64 times as much.
    expect(many / few).toBeLessThan(32);
  },
  120_000,
);

/** Short patches, sent repeatedly, that reach much of a large state. */
const SHORT: Record<string, (at: number) => object> = {
  "that move a large value": (at) =>
    at % 2 === 0
      ? { op: "move", from: "/large", path: "/moved" }
      : { op: "move", from: "/moved", path: "/large" },
  "that write beside a large value": (at) => ({ op: "replace", path: "/small", value: { at } }),
  "that shift a long list": (at) =>
    at % 2 === 0
      ? { op: "add", path: "/list/0", value: "text" }
      : { op: "remove", path: "/list/0" },
};
/** Rules that name paths without everything below them, so that the gateway compares the result of each patch. */
const EXACT = `${OPEN_POLICY}  ag_ui_classify:
    state:
      - { match: "/large", classification: display }
      - { match: "/moved", classification: display }
      - { match: "/small", classification: display }
      - { match: "/list/*", classification: display }
`;

test.each(
  Object.keys(SHORT).flatMap((shape) => [
    [shape, "open", OPEN_POLICY] as const,
    [shape, "exact rules", EXACT] as const,
  ]),
)(
  "patches %s cost what as many of a small state cost, and the snapshot once (%s)",
  async (shape, _name, policy) => {
    const gateway = createInProcess(policy);
    const make = SHORT[shape] as (at: number) => object;
    const pieces = (values: number, patches: number) =>
      frames(
        inRun(IDS, [
          {
            type: "STATE_SNAPSHOT",
            snapshot: {
              small: 0,
              large: Array.from({ length: values / 4 }, (_, at) => ({ at })),
              list: Array.from({ length: values / 2 }, () => "text"),
            },
          },
          ...Array.from({ length: patches }, (_, at) => ({
            type: "STATE_DELTA",
            delta: [make(at)],
          })),
        ]),
      );
    const patches = 100;
    const size = MOST - 100;
    await gateway.run(INPUT, pieces(100, patches));
    const short = await cost(() => gateway.run(INPUT, pieces(100, patches)));
    const snapshot = await cost(() => gateway.run(INPUT, pieces(size, 0)));
    const bound = 4 * (short + snapshot);
    const both = await cost(() => gateway.run(INPUT, pieces(size, patches)), 3, bound);
    await gateway.close();
    expect(both).toBeLessThan(bound);
  },
  120_000,
);

test("the cost of a list that gives every result another id is proportional to its length", async () => {
  const gateway = createInProcess(`${OPEN_POLICY}  ag_ui_messages: { lists: parts }\n`);
  const list = (name: string, length: number): object => ({
    type: "MESSAGES_SNAPSHOT",
    messages: Array.from({ length }, (_, at) => ({
      id: `${name}${at}`,
      role: "assistant",
      content: "the same words",
    })),
  });
  const pieces = (length: number) => frames(inRun(IDS, [list("a", length), list("b", length)]));
  await gateway.run(INPUT, pieces(600));
  const few = await cost(() => gateway.run(INPUT, pieces(600)));
  const many = await cost(() => gateway.run(INPUT, pieces(4800)), 3, 24 * few);
  await gateway.close();
  expect(many / few).toBeLessThan(24);
}, 120_000);

test("the gateway finds an earlier message by its id, without reading each message again", () => {
  const { content } = compilePolicy(loadPolicy(RULES));
  const count = 2000;
  let reads = 0;
  const sent = Array.from({ length: count }, (_, at) => ({
    get id() {
      reads += 1;
      return `m${at}`;
    },
    role: "assistant" as const,
    content: "said",
  }));
  const watch = new ContentWatch(content as ContentSettings, sent);
  for (let at = 0; at < count; at++) {
    const event = { type: "TEXT_MESSAGE_CONTENT", messageId: `n${at}`, delta: "x" } as const;
    watch.read({ event } as EventContext);
  }
  expect(reads).toBe(count);
});

test.each(["sse", "proto"] as const)(
  "an event with more values than the limit is refused while it is parsed (%s)",
  async (kind) => {
    const gateway = createInProcess(OPEN_POLICY);
    for (const make of Object.values(SHAPES)) {
      const events = inRun(IDS, [make(MOST * 1.5)]);
      const bytes = (event: object): Uint8Array =>
        kind === "proto"
          ? encodeProto(event as never)
          : new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`);
      const pieces = events.map((event) => ({ kind, bytes: bytes(event) }));
      const { failures, delivered, contexts } = await gateway.run(INPUT, pieces);
      expect(failures).toHaveLength(1);
      expect(delivered.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
      // Only the refusal was judged and recorded.
      expect(contexts.filter(({ refused }) => refused !== undefined)).toHaveLength(1);
      expect(contexts).toHaveLength(2);
    }
    await gateway.close();
  },
  120_000,
);

test.each([
  ["STATE_DELTA", "path", (operation: object) => ({ delta: [operation] })],
  ["STATE_DELTA", "from", (operation: object) => ({ delta: [operation] })],
  ["ACTIVITY_DELTA", "path", (operation: object) => ({ ...card, patch: [operation] })],
  ["ACTIVITY_DELTA", "from", (operation: object) => ({ ...card, patch: [operation] })],
] as const)(
  "a pointer has at most as many segments as a document has levels (%s, %s)",
  async (type, member, rest) => {
    const failuresOf = async (segments: number): Promise<readonly string[]> => {
      const gateway = createInProcess(OPEN_POLICY);
      const operation = { op: "copy", path: "/a", from: "/b", [member]: "/x".repeat(segments) };
      const { failures } = await gateway.run(
        INPUT,
        frames(inRun(IDS, [{ type, ...rest(operation) }])),
      );
      await gateway.close();
      return failures;
    };
    expect(await failuresOf(DEFAULT_LIMITS.maxDepth)).toEqual([]);
    expect(await failuresOf(DEFAULT_LIMITS.maxDepth + 1)).toHaveLength(1);
  },
);

test("the configuration can set another limit", async () => {
  const event = { type: "CUSTOM", name: "x", value: flat(2000) };
  const run = async (eventValues: number): Promise<readonly string[]> => {
    const gateway = createInProcess(OPEN_POLICY, { listenLimits: { eventValues } });
    const { failures } = await gateway.run(INPUT, frames(inRun(IDS, [event])));
    await gateway.close();
    return failures;
  };
  expect(await run(1000)).toHaveLength(1);
  expect(await run(3000)).toEqual([]);
});
