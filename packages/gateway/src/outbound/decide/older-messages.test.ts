import type { JsonObject } from "@countersign/core";
import { startPostgres } from "@countersign/testkit";
import { compilePolicy, createContentReader, loadPolicy } from "@countersign/policy";
import type { Message } from "@countersign/wire";
import * as fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KeyedStore } from "../../store/keyed-store.js";
import { openPostgresKeyedStore } from "../../store/postgres/open-postgres-store.js";
import { openSqliteKeyedStore } from "../../store/sqlite/open-sqlite-store.js";
import { SYSTEM_CLOCK } from "../../base/ports.js";
import { text } from "../../testing/events.js";
import {
  ACTS,
  CONTINUATIONS,
  CUT_RUN,
  FIRST_RUN,
  LISTS,
  READING_POLICY,
  SAID,
} from "../../testing/older-acts.js";
import type { Act } from "../../testing/older-acts.js";
import { TRANSPORTS } from "../../testing/persons-end.js";
import type { Transport } from "../../testing/persons-end.js";
import { startPair } from "../../testing/two-gateways.js";
import type { GatewayPair, RequestForm, Verdict } from "../../testing/two-gateways.js";

const REQUEST_FORMS: Record<string, RequestForm> = {
  "whole history": { repeats: "all of it", moves: false },
  "whole history, at another gateway": { repeats: "all of it", moves: true },
  "new messages only": { repeats: "nothing", moves: false },
  "new messages only, at another gateway": { repeats: "nothing", moves: true },
  "GET stream": { repeats: "no request", moves: false },
  "GET stream, at another gateway": { repeats: "no request", moves: true },
};
const byName = new Map([...ACTS, ...CONTINUATIONS].map((act) => [act.name, act]));
const namesOf = (acts: readonly Act[]): string[] => acts.map(({ name }) => name);
const actsOf = (runs: readonly (readonly string[])[]): Act[][] =>
  runs.map((names) => names.flatMap((name) => byName.get(name) ?? []));
const LISTED = new Set(namesOf(LISTS));

/** Lists without the person's messages: the gateway restores them if the request has them, and otherwise blocks the list. */
const LOSING = new Set(
  namesOf(LISTS.filter(({ events }) => !JSON.stringify(events).includes(JSON.stringify(SAID)))),
);
const isLosing = (names: readonly string[]): boolean => names.some((name) => LOSING.has(name));

/** A result under the id of its call's message gets an id of its own, if the request has that message. */
const isRepaired = (names: readonly string[]): boolean =>
  names.some((name) => /result of (?:c2 as a1|(c\d) as \1)$/u.test(name));

/** Without receipts about a result that a list leaves out: the gateway restores it only if the request has it. */
const comparable = (verdicts: readonly Verdict[][]): Verdict[][] =>
  verdicts.map((run) => run.filter(([, , rule]) => rule !== "gateway/rewritten"));

/** Later runs, by name, so that a counterexample is readable. */
const runsOf = (acts: readonly Act[]): fc.Arbitrary<string[][]> => {
  const run = fc.array(fc.constantFrom(...namesOf(acts)), { minLength: 1, maxLength: 3 });
  return fc.array(run, { minLength: 1, maxLength: 2 });
};
const FIRST = { whole: FIRST_RUN, "broken off": CUT_RUN };
const anyFirst = fc.constantFrom<keyof typeof FIRST>("whole", "broken off");
const rulesOf = (verdicts: readonly Verdict[][]): (string | undefined)[] => [
  ...new Set(verdicts.at(-1)?.flatMap(([, , rule]) => rule ?? [])),
];

const CALLS = new Map([
  ["c1", { name: "ask", arguments: '{"q":1}' }],
  ["c2", { name: "lookup", arguments: "{}" }],
]);

/** The effects on the person that no agent may have, whatever it sends. */
function harmOf(messages: readonly Message[]): unknown[] {
  const { content: settings } = compilePolicy(loadPolicy(READING_POLICY));
  if (settings === undefined) throw new TypeError("the policy reads nothing");
  const lost = messages.some(({ id }) => id === SAID.id) ? [] : ["the person's words are gone"];
  const found = messages.flatMap((message): unknown[] => {
    const { role, content } = message;
    if (role === "user") return isDeepStrictEqual(message, SAID) ? [] : [message];
    if (role === "system" || role === "developer") return [message];
    if (role !== "assistant" && role !== "reasoning") return [];
    const whole = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: content ?? "" };
    const found = createContentReader(settings).read(whole as JsonObject);
    const calls = role === "assistant" ? (message.toolCalls ?? []) : [];
    const changed = calls.filter(
      ({ id, function: called }) => !isDeepStrictEqual(called, CALLS.get(id) ?? called),
    );
    return [...(found === null ? [] : [message, found]), ...changed];
  });
  return [...lost, ...found];
}

let pair: GatewayPair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.stop());

const RUNS = Number(process.env["COUNTERSIGN_PROPERTY_RUNS"] ?? 15);
/** The gateway refused the history of a client that had received all of this. */
const REFUSED_ONCE: [keyof typeof FIRST, string[][]][] = [
  [
    "broken off",
    [["an answer in the person's place", "call in c3", "activity u1"], ["activity u1"]],
  ],
];

test("an act gets the same verdict for any part of the thread in the request", async () => {
  await fc.assert(
    fc.asyncProperty(anyFirst, runsOf(ACTS), async (first, later) => {
      const told: [string, readonly Verdict[][]][] = [];
      // A list on a GET stream removes nothing for the other clients of the thread.
      const isListed = later
        .slice(0, -1)
        .flat()
        .some((name) => LISTED.has(name));
      for (const [name, form] of Object.entries(REQUEST_FORMS)) {
        if (isListed && form.repeats === "no request") continue;
        const { verdicts, messages } = await pair.talk(form, FIRST[first], actsOf(later));
        expect(harmOf(messages)).toEqual([]);
        const isOfList = later.flat().some((one) => LISTED.has(one));
        told.push([name, isOfList ? comparable(verdicts) : verdicts]);
      }
      if (isLosing(later.flat()) || isRepaired(later.flat())) return;
      for (const [name, verdicts] of told) expect([name, verdicts]).toEqual([name, told[0]?.[1]]);
    }),
    { numRuns: RUNS, examples: REFUSED_ONCE },
  );
}, 600_000);

test("each act alone gets one verdict on every path", async () => {
  for (const [index, act] of ACTS.entries()) {
    const tell = async (form: RequestForm): Promise<unknown> => {
      const { verdicts, messages } = await pair.talk(form, CUT_RUN, [[act]]);
      expect(harmOf(messages)).toEqual([]);
      return [act.name, LISTED.has(act.name) ? comparable(verdicts) : verdicts];
    };
    const whole = await tell(REQUEST_FORMS["whole history"] as RequestForm);
    const none = await tell(REQUEST_FORMS["GET stream, at another gateway"] as RequestForm);
    const isOther = isLosing([act.name]) || isRepaired([act.name]);
    expect(isOther ? whole : none).toEqual(whole);
    // Each act over each transport would take 20 s; each act over one of them finds a transport that differs.
    const transport = TRANSPORTS[1 + (index % (TRANSPORTS.length - 1))] as Transport;
    expect(await tell({ repeats: "all of it", moves: false, transport })).toEqual(whole);
    expect(await tell({ repeats: "nothing", moves: true, transport })).toEqual(none);
  }
}, 600_000);

/** In one stream an agent may replace its own result, or is told of another of two rules. */
const OWN_RESULTS = new Set([
  "result of c1 as t2",
  "other result of c2 as t2",
  "result of c1 as c1",
  "a result changed",
  "an answer in the person's place",
]);

test("a further run on the same stream has the verdicts of a later request with the whole history", async () => {
  for (const act of [...ACTS, ...CONTINUATIONS]) {
    const later = { repeats: "all of it", moves: false } as const;
    const asked = await pair.talk(later, FIRST_RUN, [[act]]);
    const joined = await pair.talk({ ...later, joins: true }, FIRST_RUN, [[act]]);
    expect(harmOf(joined.messages)).toEqual([]);
    if (OWN_RESULTS.has(act.name)) continue;
    expect([act.name, joined.verdicts.flat()]).toEqual([act.name, asked.verdicts.flat()]);
  }
}, 600_000);

test("a text of an earlier run continues only if the request has it, and is read from its start", async () => {
  for (const act of CONTINUATIONS) {
    for (const [name, form] of Object.entries(REQUEST_FORMS)) {
      const { verdicts, messages } = await pair.talk(form, CUT_RUN, [[act]]);
      expect(harmOf(messages)).toEqual([]);
      // A message with only calls has no text that could have begun an image.
      const isImage = JSON.stringify(act.events).includes("evil") && !/ c\d$/u.test(act.name);
      const found = isImage ? ["ag_ui_content.images"] : [];
      const expected = form.repeats === "all of it" ? found : ["gateway/reopened"];
      expect([act.name, name, rulesOf(verdicts)]).toEqual([act.name, name, expected]);
    }
  }
}, 600_000);

test("over several runs of any agent, the person's messages and readable text stay sound", async () => {
  const roads = fc.constantFrom(...Object.keys(REQUEST_FORMS));
  await fc.assert(
    fc.asyncProperty(
      anyFirst,
      roads,
      runsOf([...ACTS, ...CONTINUATIONS]),
      async (first, form, later) => {
        const { messages } = await pair.talk(
          REQUEST_FORMS[form] as RequestForm,
          FIRST[first],
          actsOf(later),
        );
        expect(harmOf(messages)).toEqual([]);
      },
    ),
    { numRuns: RUNS * 4 },
  );
}, 600_000);

const [TEXT, IMAGE] = ["text u1", "rest of an image a1"].map((name) => byName.get(name) as Act);
const HARM = [TEXT, IMAGE, byName.get("call c1"), byName.get("result of c1 as t2")] as Act[];
const HARM_RULES = [
  "gateway/message-role",
  "gateway/reopened",
  "gateway/known-call",
  "gateway/rewritten",
];

test("clients of older versions have the same protection", async () => {
  for (const fields of [{ protocolVersion: undefined }, { protocolVersion: "1.0" }]) {
    const form: RequestForm = { repeats: "nothing", moves: true, fields };
    const { verdicts } = await pair.talk(form, FIRST_RUN, [HARM]);
    expect(rulesOf(verdicts)).toEqual(HARM_RULES);
  }
});

test("if a policy does not check requests, a client that leaves out part of its history has the same protection", async () => {
  const open = await startPair({
    policy: `${READING_POLICY}  ag_ui_request: { enabled: false }\n`,
  });
  const form: RequestForm = { repeats: "nothing", moves: true, fields: { messages: [SAID] } };
  const { verdicts, messages } = await open.talk(form, FIRST_RUN, [
    [{ name: "an answer", events: text("b1", "fine") }],
    HARM,
  ]);
  await open.stop();
  expect(rulesOf(verdicts)).toEqual(HARM_RULES);
  expect(harmOf(messages)).toEqual([]);
});

test("a policy that observes blocks nothing and names the rules", async () => {
  const observing = await startPair({ policy: `mode: observe\n${READING_POLICY}` });
  const { verdicts } = await observing.talk({ repeats: "nothing", moves: true }, FIRST_RUN, [HARM]);
  await observing.stop();
  expect(verdicts.flat().every(([, isAllowed]) => isAllowed)).toBe(true);
  expect(rulesOf(verdicts)).toEqual(HARM_RULES);
});

/** Opens a ledger twice over one store, like two gateways, or one after a restart. */
const STORES: Record<string, (folder: string, url: () => Promise<string>) => Promise<KeyedStore>> =
  {
    SQLite: (directory) => openSqliteKeyedStore({ directory, clock: SYSTEM_CLOCK }),
    PostgreSQL: async (_, url) =>
      openPostgresKeyedStore({ url: await url(), name: "older", clock: SYSTEM_CLOCK }),
  };

test.each(Object.keys(STORES))(
  "the ledger has what the gateway knows of a thread: %s",
  async (name) => {
    const open = STORES[name] as (typeof STORES)[string];
    const folder = await mkdtemp(join(tmpdir(), "countersign-older-"));
    const server = name === "PostgreSQL" ? await startPostgres() : undefined;
    const url = async (): Promise<string> => server?.url ?? "";
    const ledgers = [await open(folder, url), await open(folder, url)] as const;
    const stored = await startPair({ ledgers });
    for (const repeats of ["nothing", "no request"] as const) {
      const runs = [HARM, HARM];
      const { verdicts, messages } = await stored.talk({ repeats, moves: true }, CUT_RUN, runs);
      expect(rulesOf(verdicts)).toEqual(HARM_RULES);
      expect(harmOf(messages)).toEqual([]);
    }
    await stored.stop();
    for (const ledger of ledgers) await ledger.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  },
  60_000,
);
