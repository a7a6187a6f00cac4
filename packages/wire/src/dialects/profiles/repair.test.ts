import { readFileSync } from "node:fs";
import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { AgUiEvent } from "../../model/event.js";
import type { RunAgentInput } from "../../model/input.js";
import { createRunAutomaton } from "../../order/index.js";
import { arbitraryEvent } from "../../testing/arbitraries.js";
import { officialVerdict } from "../../testing/official-pipeline.js";
import { generateStream } from "../../testing/streams.js";
import { createRepairer, DEVIATIONS, EMITTER_PROFILES, PROFILES } from "../index.js";
import type { DeviationId, EmitterProfile, ProfileRow } from "../index.js";
import { DEVIANT, INPUT } from "../../testing/deviant-streams.js";

type Outcome = { events: JsonObject[]; notes: string[] };

function repair(
  events: readonly object[],
  profile: EmitterProfile,
  { input = INPUT, endsByItself = true, isCut = false }: Partial<Situation> = {},
): Outcome {
  const repairer = createRepairer({ profile, input, endsByItself });
  const out: Outcome = { events: [], notes: [] };
  const add = (result: ReturnType<NonNullable<typeof repairer>["end"]>, event?: object): void => {
    out.events.push(...(result?.events ?? (event === undefined ? [] : [event as JsonObject])));
    out.notes.push(...(result?.notes ?? []).map(({ rule }) => rule));
  };
  for (const event of events) add(repairer?.push(event as JsonObject), event);
  add(repairer?.end(isCut));
  return out;
}

type Situation = {
  input: Pick<RunAgentInput, "threadId" | "runId" | "messages">;
  endsByItself: boolean;
  isCut: boolean;
};

function violations(events: readonly object[], input: RunAgentInput = INPUT): string[] {
  const automaton = createRunAutomaton({ input });
  return [...events.map((event) => automaton.push(event as AgUiEvent)), automaton.end()]
    .flat()
    .map(({ rule }) => rule);
}

const REPAIRED = (Object.keys(DEVIATIONS) as DeviationId[]).filter(
  (id) => "note" in DEVIATIONS[id],
);

test.each(REPAIRED)("%s: the stream is repaired with a note, and strict leaves it", (id) => {
  const { stream, repaired } = DEVIANT[id];
  const { note } = DEVIATIONS[id] as { note: string };
  const profiles = Object.entries(PROFILES as Readonly<Record<string, readonly ProfileRow[]>>)
    .filter(([, rows]) => rows.some(({ deviation }) => deviation === id))
    .map(([name]) => name as EmitterProfile);
  expect(profiles).not.toHaveLength(0);
  for (const profile of ["auto", ...profiles] as const) {
    const { events, notes } = repair(stream, profile);
    expect(events, profile).toEqual(repaired);
    expect(notes, profile).toContain(note);
  }
  expect(violations(repaired)).toEqual([]);
  expect(officialVerdict(repaired as unknown as AgUiEvent[]).message).toBeUndefined();
  expect(repair(stream, "strict")).toEqual({ events: stream, notes: [] });
});

test("a stream in order comes out of every profile as it went in, event for event", () => {
  let sound = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const { events, input } = generateStream(seed);
    if (violations(events, input).some((rule) => rule.startsWith("run/"))) continue;
    const known = new Set(input.messages.flatMap((message) => callIds(message)));
    if (events.some((event) => "toolCallId" in event && known.has(event.toolCallId ?? "")))
      continue;
    const callers = new Set(
      events.flatMap((event) => ("parentMessageId" in event ? event.parentMessageId : [])),
    );
    if (events.some((event) => event.type === "TOOL_CALL_RESULT" && callers.has(event.messageId)))
      continue;
    sound += 1;
    for (const profile of EMITTER_PROFILES) {
      const out = repair(events, profile, { input });
      expect(out.notes, `seed ${seed}, ${profile}`).toEqual([]);
      expect(out.events.every((event, at) => event === (events[at] as unknown))).toBe(true);
      expect(out.events).toHaveLength(events.length);
    }
  }
  expect(sound).toBeGreaterThan(40);
});

test("whatever comes, a repair invents no event and keeps the order but for results before a start", () => {
  const pool = Object.values(DEVIANT).flatMap(({ stream }) => stream);
  const parts = fc.oneof(
    fc.constantFrom(...Object.values(DEVIANT)).map(({ stream }) => stream),
    fc.constantFrom(...pool).map((event) => [event]),
    arbitraryEvent().map((event) => [event as unknown as JsonObject]),
  );
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 6 }),
      fc.constantFrom(...EMITTER_PROFILES),
      (streams, profile) => {
        const sent = streams.flat();
        const { events } = repair(sent, profile, { isCut: true });
        let from = 0;
        const early = sent.findIndex(({ type }) => type !== "TOOL_CALL_RESULT");
        const isMoved = (event: JsonObject): boolean =>
          sent.slice(0, early).some((one) => isRepairedForm(event, one));
        for (const event of events) {
          if (event["type"] === "TOOL_CALL_RESULT" && isMoved(event)) continue;
          const at = sent.findIndex((one, index) => index >= from && isRepairedForm(event, one));
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + 1;
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test("a finish of another run on the stream, or under another thread, is left as it is", () => {
  const [start, finish] = [{ type: "RUN_STARTED", threadId: "t", runId: "r" }, FINISH];
  const two = [start, finish, { ...start, runId: "r2" }, finish];
  expect(repair(two, "auto")).toEqual({ events: two, notes: [] });
  const other = [start, { ...finish, threadId: "other", runId: "lg" }];
  expect(repair(other, "auto")).toEqual({ events: other, notes: [] });
});

test("a thread id is replaced only where it is the run id of this very request", () => {
  for (const ids of [
    { threadId: "other", runId: "r" },
    { threadId: "r2", runId: "r2" },
  ]) {
    const stream = [
      { type: "RUN_STARTED", ...ids },
      { type: "RUN_FINISHED", ...ids },
    ];
    expect(repair(stream, "auto")).toEqual({ events: stream, notes: [] });
  }
});

test.each([
  ["other arguments", { arguments: '{"city":"Oslo"}' }],
  ["another name", { name: "send_money" }],
])("a repeated call with %s is left for the gateway to judge", (_what, change) => {
  const { stream } = DEVIANT["repeated-call"];
  const message = INPUT.messages.find(({ role }) => role === "assistant");
  const calls = (message as { toolCalls: { function: object }[] }).toolCalls;
  const changed = calls.map((call) => ({ ...call, function: { ...call.function, ...change } }));
  const input = { ...INPUT, messages: [{ ...message, toolCalls: changed }] } as never;
  expect(repair(stream, "auto", { input })).toEqual({ events: stream, notes: [] });
});

test("a result that takes the id of any other message is left for the gateway to judge", () => {
  const { stream } = DEVIANT["result-message-id"];
  for (const messageId of ["u1", "a1", "m0", "c2-result"]) {
    const other = stream.map((event) =>
      event["type"] === "TOOL_CALL_RESULT" ? { ...event, messageId } : event,
    );
    expect(repair(other, "auto")).toEqual({ events: other, notes: [] });
  }
});

test("an encrypted value for any other entity than a step of the reasoning is left for the gateway to judge", () => {
  const { stream } = DEVIANT["encrypted-value-of-step"];
  const withValue = (change: object, before: readonly object[] = []): object[] =>
    stream.flatMap((event) =>
      event["type"] === "REASONING_ENCRYPTED_VALUE"
        ? [...before, { ...event, ...change }]
        : [event],
    );
  const step = { type: "STEP_STARTED", stepName: "later" };
  const named = { type: "TEXT_MESSAGE_START", messageId: "step-1", role: "assistant" };
  for (const other of [
    withValue({ entityId: "th1" }),
    withValue({ entityId: "step-2" }),
    withValue({ entityId: "u1" }, [{ ...step, stepName: "u1" }]),
    withValue({ entityId: "later" }, [step]),
    withValue({ subtype: "tool-call" }),
    withValue({}, [named, { type: "TEXT_MESSAGE_END", messageId: "step-1" }]),
  ]) {
    expect(repair(other, "auto")).toEqual({ events: other, notes: [] });
  }
});

test("results before a start wait for it alone, and only so many", () => {
  const result = DEVIANT["result-before-start"].stream[0] as JsonObject;
  const [start] = DEVIANT["result-before-start"].repaired;
  const error = { type: "RUN_ERROR", message: "no" };
  for (const stream of [
    [result],
    [result, error],
    [result, { type: "STEP_STARTED", stepName: "s" }, start],
    [...Array.from({ length: 65 }, () => result), start],
  ]) {
    expect(repair(stream as JsonObject[], "auto")).toEqual({ events: stream, notes: [] });
  }
  const two = repair([result, result, start as JsonObject, FINISH], "auto");
  expect(two.events).toEqual([start, result, result, FINISH]);
});

test("a call that is announced without its end and answered at once is dropped whole", () => {
  const { stream, repaired } = DEVIANT["repeated-call"];
  const endless = stream.filter(({ type }) => type !== "TOOL_CALL_END");
  expect(repair(endless, "auto").events).toEqual(repaired);
  const late = endless.flatMap((event) =>
    event["type"] === "TOOL_CALL_RESULT"
      ? [event, { type: "TOOL_CALL_END", toolCallId: event["toolCallId"] as string }]
      : [event],
  );
  expect(repair(late, "auto").events).toEqual(repaired);
});

test("an early finish is held only where the stream ends by itself, and is gone when the stream breaks off", () => {
  const { stream } = DEVIANT["early-finish"];
  expect(repair(stream, "tanstack", { endsByItself: false }).events).toEqual(stream);
  const cut = stream.slice(0, stream.findIndex(({ type }) => type === "RUN_FINISHED") + 1);
  expect(repair(cut, "tanstack").events).toEqual(cut);
  expect(repair(cut, "tanstack", { isCut: true }).events).toEqual(cut.slice(0, -1));
});

test("the page lists every profile and every deviation with its source", () => {
  const page = readFileSync(
    new URL("../../../../../docs/wire/profiles.md", import.meta.url),
    "utf8",
  );
  for (const [id, deviation] of Object.entries(DEVIATIONS)) {
    const repair = "repair" in deviation ? deviation.repair : "none";
    expect(page).toContain(`| \`${id}\` | ${deviation.sends} | ${repair}`);
  }
  for (const [name, rows] of Object.entries(PROFILES)) {
    expect(page).toContain(`| \`${name}\` |`);
    for (const { deviation, source } of rows) expect(page).toContain(`\`${deviation}\`: ${source}`);
  }
});

test("an unknown profile name is a TypeError", () => {
  expect(() => repair([], "lang" as EmitterProfile)).toThrow(TypeError);
});

const FINISH = { type: "RUN_FINISHED", threadId: "t", runId: "r" };

function callIds(message: RunAgentInput["messages"][number]): string[] {
  return message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [];
}

/** Whether an event is one that was sent, but for the ids that a repair replaces. */
function isRepairedForm(event: JsonObject, sent: JsonObject): boolean {
  if (event === sent) return true;
  const [ids, type] = [["threadId", "runId"], String(event["type"])];
  if (type === "TOOL_CALL_RESULT") ids.splice(0, 2, "messageId");
  if (type === "REASONING_ENCRYPTED_VALUE") ids.splice(0, 2, "entityId");
  const plain = (value: JsonObject): string =>
    JSON.stringify({ ...value, ...Object.fromEntries(ids.map((id) => [id, undefined])) });
  return (
    ["RUN_STARTED", "RUN_FINISHED", "TOOL_CALL_RESULT", "REASONING_ENCRYPTED_VALUE"].includes(
      type,
    ) && plain(event) === plain(sent)
  );
}
