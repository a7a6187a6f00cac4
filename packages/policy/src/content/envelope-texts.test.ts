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

/** The same, with a scanner of its own for each way: slow, and easy to believe. */
class OwnScanners {
  readonly #scanners = new Map<string, TextScanner>();

  read({ agent_id: agent, session_id: session, target, payload }: JsonObject): boolean {
    const {
      text,
      id,
      run_id: run,
      parent_run_id: parent,
      thread_id: thread,
    } = payload as JsonObject;
    const { component_type: type, component_id: component } = (target ?? {}) as JsonObject;
    const keys = [type, component, agent, [session, thread], [run, parent], id]
      .map((value, place) => [place, JSON.stringify(value ?? null)] as const)
      .filter(([, value]) => !/^(?:null|\[null,null\])$/.test(value));
    let isFound = false;
    for (let choice = 0; choice < 1 << keys.length; choice += 1) {
      const way = keys.filter((_, place) => ((choice >> place) & 1) === 1).join("|");
      const scanner =
        this.#scanners.get(way) ?? new TextScanner(settingsOf(), { trustsCode: false });
      this.#scanners.set(way, scanner);
      isFound = scanner.push(text as string) !== undefined || isFound;
    }
    return isFound;
  }
}

test("shared scanners find what scanners of their own find", () => {
  const piece = fc.constantFrom(
    "![",
    "](https://evil.example/)",
    "<img src=",
    "x>",
    "ok",
    "[a](java",
    "script:x)",
  );
  const one = envelope.chain((made) =>
    piece.map((text) => ({ ...made, payload: { ...made.payload, text } })),
  );
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), (envelopes) => {
      const shared = new EnvelopeTexts(settingsOf());
      const own = new OwnScanners();
      for (const sent of envelopes as unknown as JsonObject[]) {
        const isFound = shared.read(sent, MOST) !== null;
        expect(isFound).toBe(own.read(sent));
        shared.settle(sent, true);
      }
    }),
    { numRuns: 500 },
  );
});
