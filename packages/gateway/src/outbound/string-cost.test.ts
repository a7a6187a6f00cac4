import { DEFAULT_LIMITS, PLAIN_EVENT_TYPES } from "@countersign/core";
import { stringFields } from "@countersign/testkit";
import { EVENT_TABLE } from "@countersign/wire";
import { expect, test } from "vitest";
import { OPEN_POLICY } from "../testing/fixture.js";
import { createInProcess, frames } from "../testing/in-process.js";
import type { InProcess, InProcessOptions } from "../testing/in-process.js";

const IDS = { threadId: "x", runId: "x" };

/** Rules that split or match strings. The content rules have a limit and a test of their own: `max_event_characters`. */
const RULES = `${OPEN_POLICY}  ag_ui_classify:
    state:
      - { match: "/x/**", classification: display }
      - { match: "/x/*/y", classification: display }
      - { match: "/**/secret", classification: destroy }
    tools:
      - { match: "a*b*c", classification: display }
  ag_ui_conditions:
    rules:
      - { id: c, when: 'has(event.delta) && event.delta.exists(op, op.path == "/nope")' }
  ag_ui_order: { on_error: allow }
`;

/** Characters of a long string, and the part of the cost of an event with all values that it may have. */
const LENGTH = 400_000;
const SHARE = 2;

/** Separators of pointers, names, lists, ids, media types, addresses and lines. */
const SEPARATORS = ["/", ".", ",", ":", " ", "\n", "~1", "%2F", "-", "@", ";"];
/** Separators alone, then with short parts between them. */
const filled = (separator: string): string =>
  separator.repeat(LENGTH / 2 / separator.length) +
  `a${separator}`.repeat(LENGTH / 2 / (separator.length + 1));

/** A place of an event that an agent fills with text. */
type Place = { readonly id: string; make(text: string): object };

const PLACES: readonly Place[] = [
  // Only the operation of a patch costs differently in each event that contains it.
  ...new Map(
    stringFields(EVENT_TABLE).map(({ id, type, make }) => {
      const name = id.includes("Operation.") ? `${type} ${id}` : id;
      return [name, { id: name, make }];
    }),
  ).values(),
  ...Object.entries({
    STATE_SNAPSHOT: { member: "snapshot" },
    ACTIVITY_SNAPSHOT: { member: "content", messageId: "x", activityType: "x" },
    CUSTOM: { member: "value", name: "x" },
    RUN_FINISHED: { member: "result", ...IDS },
  }).map(([type, { member, ...rest }]) => ({
    id: `${type} name of a member`,
    make: (text: string) => ({ type, ...rest, [member]: { [text]: 1 } }),
  })),
];

const envelope = (event_type: unknown, rest: object): object => ({
  event_id: "x",
  timestamp: 0,
  agent_id: "x",
  event_type,
  classification: "display",
  payload: {},
  ...rest,
});
const ENVELOPES: readonly Place[] = [
  ...[...PLAIN_EVENT_TYPES, { custom: "x" }].flatMap((type) =>
    ["text", "step", "component"].map((member) => ({
      id: `envelope ${JSON.stringify(type)} ${member}`,
      make: (text: string) => envelope(type, { payload: { action: "progress", [member]: text } }),
    })),
  ),
  {
    id: "envelope list of texts",
    make: (text) => envelope("lifecycle", { payload: { children: [{ name: text }] } }),
  },
  {
    id: "envelope name of a member",
    make: (text) => envelope("lifecycle", { payload: { [text]: 1 } }),
  },
  {
    id: "envelope component_type",
    make: (text) => envelope("lifecycle", { target: { component_type: text } }),
  },
  {
    id: "envelope component_id",
    make: (text) => envelope("lifecycle", { target: { component_type: "x", component_id: text } }),
  },
  { id: "envelope event_type", make: (text) => envelope(text, {}) },
  { id: "envelope agent_id", make: (text) => envelope("lifecycle", { agent_id: text }) },
];

/** What patches change. */
const BEFORE = [
  { type: "RUN_STARTED", ...IDS },
  { type: "STATE_SNAPSHOT", snapshot: { x: {} } },
  { type: "ACTIVITY_SNAPSHOT", messageId: "x", activityType: "x", content: { x: {} } },
];

/** Processor time in microseconds, so that other programs on the machine have no effect. */
async function cost(gateway: InProcess, event: object, options?: InProcessOptions) {
  const { type } = event as { type?: unknown };
  const isFirst = type === undefined || type === "RUN_STARTED";
  const pieces = frames(isFirst ? [event] : [...BEFORE, event]);
  const before = process.cpuUsage();
  await gateway.run({ ...IDS, messages: [] }, pieces, options);
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Tries until the cost is within the bound: other work on the machine makes a try slow, never a quick one. */
const TRIES = 6;

async function costly(
  places: readonly Place[],
  options?: InProcessOptions,
): Promise<readonly string[]> {
  const gateway = createInProcess(RULES);
  const found: string[] = [];
  const names = Array.from({ length: DEFAULT_LIMITS.maxEventValues - 10 }, (_, at) => [
    `k${at}`,
    at,
  ]);
  const full = { type: "CUSTOM", name: "x", value: Object.fromEntries(names) };
  await cost(gateway, full);
  let most = Math.min(await cost(gateway, full), await cost(gateway, full)) / SHARE;
  for (const { id, make } of places) {
    for (const separator of SEPARATORS) {
      const event = make(filled(separator));
      let least = Number.POSITIVE_INFINITY;
      for (let at = 0; at < TRIES && least > most; at++) {
        // The machine may have become slower for everything: both are measured at the same time.
        if (at > 0) most = Math.max(most, (await cost(gateway, full)) / SHARE);
        least = Math.min(least, await cost(gateway, event, options));
      }
      if (least > most)
        found.push(`${id} ${JSON.stringify(separator)} ${(least / most).toFixed(1)}`);
    }
  }
  await gateway.close();
  return found;
}

test.each([
  ["field of every event", PLACES, {}],
  ["text of an envelope", ENVELOPES, { agentDialect: "chio" }],
] as const)(
  "a string of many separators costs little, in each %s",
  async (_name, places, options) => {
    expect(await costly(places, options)).toEqual([]);
  },
  240_000,
);
