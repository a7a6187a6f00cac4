import type { JsonObject } from "@countersign/core";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { EnvelopeTexts } from "./envelope-texts.js";
import { settingsOf } from "./testing/settings-of.js";
import { TextScanner } from "./text-scanner.js";

/** Ways in which a client can join one text: six keys, with and without the message. */
const MOST_SCANS = 128;
/** Characters that one envelope may take. */
const MOST = 1_000_000;

afterEach(() => vi.restoreAllMocks());

const id = fc.option(fc.constantFrom("a", "b"), { nil: undefined });
const envelope = fc.record(
  {
    agent_id: id,
    session_id: id,
    target: fc.record({ component_type: id, component_id: id }),
    payload: fc.record({
      text: fc.string({ maxLength: 20 }),
      id,
      run_id: id,
      parent_run_id: id,
      thread_id: id,
    }),
  },
  { requiredKeys: ["payload"] },
);

test("the text of an envelope is scanned once for each way in which clients see it differently, and at most once for each way to join it", () => {
  const pushed = vi.spyOn(TextScanner.prototype, "push");
  fc.assert(
    fc.property(fc.array(envelope, { maxLength: 8 }), (envelopes) => {
      const texts = new EnvelopeTexts(settingsOf());
      const seen: string[] = [];
      for (const one of envelopes) {
        pushed.mockClear();
        texts.read(one as unknown as JsonObject, MOST);
        texts.settle(one as unknown as JsonObject, true);
        seen.push(one.payload.text);
        // Earlier texts are scanned once more where two ways differ.
        const scanned = pushed.mock.calls.map(([text]) => text);
        expect(scanned.every((text) => seen.includes(text))).toBe(true);
        expect(scanned.length).toBeLessThanOrEqual(MOST_SCANS * envelopes.length);
      }
    }),
    { numRuns: 300 },
  );
});

test("of a stream whose envelopes all have the same ids, each text is scanned twice at most, but for the first of a new message", () => {
  const pushed = vi.spyOn(TextScanner.prototype, "push");
  const texts = new EnvelopeTexts(settingsOf());
  const counts = ["m1", "m1", "m2", "m2", "m2"].map((message) => {
    pushed.mockClear();
    const one = {
      agent_id: "a",
      session_id: "s",
      target: { component_type: "chat", component_id: "c" },
      payload: { text: "words ", message_id: message, run_id: "r", thread_id: "t" },
    };
    texts.read(one, MOST);
    texts.settle(one, true);
    return pushed.mock.calls.length;
  });
  // The two texts of the first message are read once more, where the ways of messages part from the others.
  expect(counts).toEqual([1, 1, 4, 2, 2]);
});

test("an agent that varies every id is stopped before a long text is scanned for each way", () => {
  const texts = new EnvelopeTexts(settingsOf());
  const stop = (): void => {
    for (let number = 0; number < 256; number += 1) {
      const bit = (at: number): string => String((number >> at) & 1);
      const one = {
        agent_id: bit(0),
        session_id: bit(1),
        target: { component_type: bit(2), component_id: bit(3) },
        payload: { text: "w", message_id: bit(4), run_id: bit(5), thread_id: bit(6) },
      };
      texts.read(one, MOST);
      texts.settle(one, true);
    }
    const long = {
      agent_id: "0",
      session_id: "0",
      target: { component_type: "0", component_id: "0" },
    };
    texts.read(
      {
        ...long,
        payload: { text: "w".repeat(100_000), message_id: "0", run_id: "0", thread_id: "0" },
      },
      MOST,
    );
  };
  expect(stop).toThrow(/maxReadMessages/);
});

/** The names of one thing in a payload: a client reads one of them, or the first that it finds. */
const NAMES = [
  ["id", "message_id", "messageId"],
  ["run_id", "runId"],
  ["parent_run_id", "parentRunId"],
  ["thread_id", "threadId"],
];
const PLACES = [
  "target/component_type",
  "target/component_id",
  "agent_id",
  "session_id",
  ...NAMES.flat().map((name) => `payload/${name}`),
  "payload/format",
  "payload/role",
];
const MEMBERS = ["text", "delta", "content", "chunk", ""];

/** A text with values for some places, as an envelope. */
type Sent = { readonly text: string; readonly member: string; readonly at: Map<string, string> };

function envelopeOf({ text, member, at }: Sent): JsonObject {
  const made: Record<string, JsonObject[string]> = {};
  const inner: Record<string, Record<string, string>> = { payload: {}, target: {} };
  for (const [place, value] of at) {
    const [outer = "", name] = place.split("/");
    if (name === undefined) made[outer] = value;
    else if (inner[outer] !== undefined) inner[outer][name] = value;
  }
  return {
    event_type: "text_stream",
    ...made,
    target: inner["target"] ?? {},
    payload: member === "" ? text : { ...inner["payload"], [member]: text },
  };
}

/** A client that appends a text to the earlier texts with the same values, for every choice of values: slow, and easy to believe. */
class EveryClient {
  readonly #columns: readonly ((sent: Sent) => string | undefined)[];
  readonly #texts = new Map<string, string>();

  constructor(places: readonly string[]) {
    const valueOf = ({ at, member }: Sent, place: string): string | undefined =>
      member === "" && place.startsWith("payload/") ? undefined : at.get(place);
    const groups = NAMES.map((names) => names.map((name) => `payload/${name}`)).filter(
      (names) => names.filter((name) => places.includes(name)).length > 1,
    );
    this.#columns = [
      ({ member }) => member,
      ...places.map((place) => (sent: Sent) => valueOf(sent, place)),
      ...groups.map((names) => (sent: Sent) => {
        const [first] = names.flatMap((name) => valueOf(sent, name) ?? []);
        return first;
      }),
    ];
  }

  /** Whether one of the texts that the client has now contains a finding. */
  append(sent: Sent): boolean {
    const values = this.#columns.map((column) => String(column(sent)));
    let isFound = false;
    for (let choice = 0; choice < 1 << values.length; choice += 1) {
      const key = `${choice} ${values.filter((_, at) => ((choice >> at) & 1) === 1).join("|")}`;
      const text = (this.#texts.get(key) ?? "") + sent.text;
      this.#texts.set(key, text);
      isFound ||= new TextScanner(settingsOf(), { trustsCode: false }).push(text) !== undefined;
    }
    return isFound;
  }
}

const PIECES = ["![", "](https://evil.example/)", "<img src=", "x>", "ok", "[a](java", "script:x)"];

test("a finding that a client gets by joining texts, by any choice of values and absent ones, is found", () => {
  const stream = fc
    .uniqueArray(fc.constantFrom(...PLACES), { minLength: 0, maxLength: 4 })
    .chain((places) =>
      fc.tuple(
        fc.constant(places),
        fc.array(
          fc.record({
            text: fc.constantFrom(...PIECES),
            member: fc.oneof(
              { weight: 3, arbitrary: fc.constant("text") },
              fc.constantFrom(...MEMBERS),
            ),
            at: fc.tuple(...places.map(() => fc.constantFrom(undefined, undefined, "a", "b"))).map(
              (values) =>
                new Map(
                  places.flatMap((place, at): [string, string][] => {
                    const value = values[at];
                    return value === undefined ? [] : [[place, value]];
                  }),
                ),
            ),
          }),
          { maxLength: 7 },
        ),
      ),
    );
  fc.assert(
    fc.property(stream, ([places, texts]) => {
      const shared = new EnvelopeTexts(settingsOf());
      const client = new EveryClient(places);
      for (const sent of texts) {
        const made = envelopeOf(sent);
        const isFound = shared.read(made, MOST) !== null;
        shared.settle(made, true);
        const isThere = client.append(sent);
        expect(isFound).toBe(isThere);
        // What was found is not delivered; from here on the two would have different texts.
        if (isThere) return;
      }
    }),
    { numRuns: 800 },
  );
});

test.each([...PLACES, "member"])(
  "texts without or with the same %s are joined around another one",
  (place) => {
    const text = (value: string | undefined, said: string): JsonObject =>
      envelopeOf({
        text: said,
        member: place === "member" ? (value ?? "") : "text",
        at: new Map(value === undefined || place === "member" ? [] : [[place, value]]),
      });
    const values = place === "member" ? ["text", "delta", undefined] : ["a", "b", undefined];
    for (const own of values) {
      for (const other of values.filter((value) => value !== own)) {
        const texts = new EnvelopeTexts(settingsOf());
        const found = [text(own, "![a](/"), text(other, "zz"), text(own, "/evil.example/x)")].map(
          (one) => {
            const hit = texts.read(one, MOST);
            texts.settle(one, true);
            return hit === null ? "delivered" : "found";
          },
        );
        expect(found).toEqual(["delivered", "delivered", "found"]);
      }
    }
  },
);

test("of more messages than are kept apart, one that returns ends the run, and texts without an id go on", () => {
  const texts = new EnvelopeTexts(settingsOf());
  const read = (payload: JsonObject): boolean => {
    const one = { event_type: "text_stream", payload };
    const isFound = texts.read(one, MOST) !== null;
    texts.settle(one, !isFound);
    return isFound;
  };
  read({ text: "![a](/" });
  for (let at = 0; at < 200; at += 1) read({ text: "word ", message_id: `m${at}` });
  expect(() => read({ text: "more", message_id: "m5" })).toThrow(/maxReadMessages/);
  expect(read({ text: "/evil.example/x)" })).toBe(true);
});
