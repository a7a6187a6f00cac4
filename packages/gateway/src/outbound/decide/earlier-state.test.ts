import { sseFrame } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../../base/ports.js";
import { createMemoryStore } from "../../store/memory-store.js";
import { idsOf, inRun } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { openStream, send, TRANSPORTS } from "../../testing/persons-end.js";
import type { Urls } from "../../testing/persons-end.js";

const STATE = {
  account: { role: "user", plan: "basic" },
  items: [{ name: "one" }],
  theme: "light",
};

/** A policy under which an agent may change the theme alone. */
const policyOf = (others: string): string => `hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [submit] }
  ag_ui_inbound: { default: allow }
  ag_ui_classify:
    state:
      - { match: /theme, classification: display }
      - { match: "/account/**", classification: ${others} }
      - { match: "/items/**", classification: ${others} }
`;

/** Every form in which an agent removes what it may not remove. */
const ACTS: Readonly<Record<string, object>> = {
  "an empty snapshot": { type: "STATE_SNAPSHOT", snapshot: {} },
  "a snapshot of null": { type: "STATE_SNAPSHOT", snapshot: null },
  "a snapshot of a list": { type: "STATE_SNAPSHOT", snapshot: [] },
  "a snapshot without the account": { type: "STATE_SNAPSHOT", snapshot: { theme: "light" } },
  "a patch that removes the role": {
    type: "STATE_DELTA",
    delta: [{ op: "remove", path: "/account/role" }],
  },
  "a patch of the root": {
    type: "STATE_DELTA",
    delta: [{ op: "replace", path: "", value: { theme: "light" } }],
  },
  "a patch of a list": { type: "STATE_DELTA", delta: [{ op: "remove", path: "/items/0" }] },
};

type Ask = (urls: Urls, ids: { threadId: string; runId: string }) => Promise<object[]>;

/** Every way in which a client asks for a run without a state. */
const ASKS: Readonly<Record<string, Ask>> = {
  ...Object.fromEntries(
    TRANSPORTS.map((transport): [string, Ask] => [
      transport,
      (urls, ids) => send(transport, urls, { ...ids, protocolVersion: "1.0", messages: [] }),
    ]),
  ),
  "GET stream": openStream,
  "GET stream in a dialect": (urls, ids) => openStream(urls, ids, "&dialect=1.0"),
};

/** The agent's events by run id. */
const script = new Map<string, readonly object[]>();
/** Two gateways on one ledger: at the first the agent may set the state, at the second only the theme. */
let pair: readonly [Fixture, Fixture];
let count = 0;
beforeAll(async () => {
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  const start = (others: string): Promise<Fixture> =>
    startFixture(
      ({ body }) => {
        const ids = idsOf(body);
        return { pieces: inRun(ids, script.get(ids.runId) ?? []).map(sseFrame) };
      },
      { policy: policyOf(others), gateway: { ledger } },
    );
  pair = [await start("display"), await start("submit")];
});
afterAll(async () => {
  for (const gateway of pair) await gateway.stop();
});

const typesOf = (events: readonly object[]): unknown[] =>
  events.map((event) => (event as { type?: unknown }).type);

const PATHS = Object.entries(ASKS).flatMap(([first, begin]) =>
  Object.entries(ASKS).map(([later, act]) => ({ first, begin, later, act })),
);

test.each(PATHS)(
  "an agent keeps the state that a run over $first left, in a run over $later",
  async ({ begin, act }) => {
    for (const between of [undefined, ASKS["GET stream"], ASKS["POST + SSE"]]) {
      for (const [name, event] of Object.entries(ACTS)) {
        const threadId = `state-${(count += 1)}`;
        const ids = (run: string): { threadId: string; runId: string } => {
          return { threadId, runId: `${threadId}-${run}` };
        };
        script.set(ids("first").runId, [{ type: "STATE_SNAPSHOT", snapshot: STATE }]);
        script.set(ids("later").runId, [event]);
        expect(typesOf(await begin(pair[0], ids("first")))).toContain("STATE_SNAPSHOT");
        await between?.(pair[0], ids("between"));
        const types = typesOf(await act(pair[1], ids("later")));
        expect([name, types]).toEqual([name, ["RUN_STARTED", "RUN_FINISHED"]]);
      }
    }
  },
  30_000,
);

test.each(["", "&dialect=1.0", "&dialect=0.0.59"])(
  "an empty snapshot on a stream without an input removes an unknown state: GET%s",
  async (query) => {
    const threadId = `state-${(count += 1)}`;
    script.set(threadId, [{ type: "STATE_SNAPSHOT", snapshot: {} }]);
    const events = await openStream(pair[1], { threadId, runId: threadId }, query);
    expect(typesOf(events)).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  },
);
