import { ORDER_RULES } from "@countersign/wire/order";
import {
  generateStream,
  mutateStream,
  mutateTexts,
  Random,
  textsOf,
} from "@countersign/wire/testing";
import { officialWire } from "@countersign/wire/testing/official";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkSse } from "../testing/run-check.js";

beforeAll(() => {
  // The client warns about every oddity, which is what these streams are made of.
  vi.spyOn(console, "warn").mockImplementation(() => {});
});
afterAll(() => {
  vi.restoreAllMocks();
});

const RUNS = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 800);

/** The ordering rules that the 1.0 client enforces itself, by the references of the table. */
const CLIENT_RULES = new Set(
  Object.entries(ORDER_RULES)
    .filter(([, { reference }]) => reference.startsWith("V"))
    .map(([id]) => id),
);

function judge(texts: readonly string[]): { refused: string | undefined; errors: string[] } {
  const body = texts.map((text) => `data: ${text.replaceAll("\n", "\ndata: ")}\n\n`).join("");
  const { failedAt, message } = officialWire([new TextEncoder().encode(body)]);
  const errors = checkSse(body)
    // An event that can be read in two ways is not read at all here; the client takes one of them.
    .filter(({ severity, rule }) => severity === "error" || rule === "json/ambiguous")
    .map(({ rule }) => rule);
  return { refused: failedAt === undefined ? undefined : message, errors };
}

test(
  "whatever the official client refuses, the check calls an error",
  { timeout: 30_000 + RUNS * 20 },
  () => {
    let refusals = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const { events } = generateStream(seed, 20);
      const { refused, errors } = judge(mutateTexts(new Random(seed), mutateStream(seed, events)));
      if (refused === undefined) continue;
      refusals++;
      expect(errors, `seed ${seed}: ${refused}`).not.toEqual([]);
    }
    expect(refusals).toBeGreaterThan(RUNS / 10);
  },
);

test(
  "a stream that the official client accepts breaks none of the client's own rules",
  { timeout: 30_000 + RUNS * 20 },
  () => {
    let accepted = 0;
    for (let seed = 1; seed <= RUNS; seed++) {
      const { events } = generateStream(seed, 20);
      const mutated = seed % 2 === 0 ? mutateStream(seed, events) : events;
      const { refused, errors } = judge(textsOf(mutated));
      if (refused !== undefined) continue;
      accepted++;
      const wrong = errors.filter(
        (rule) => CLIENT_RULES.has(rule) || rule.startsWith("event/") || rule.startsWith("chunk/"),
      );
      expect(wrong, `seed ${seed}`).toEqual([]);
    }
    expect(accepted).toBeGreaterThan(RUNS / 10);
  },
);
