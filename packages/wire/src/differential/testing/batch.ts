import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { AgUiEvent } from "../../model/event.js";
import type { RunAgentInput } from "../../model/input.js";
import { Random } from "../../testing/random.js";
import { generateStream } from "../../testing/streams.js";
import { cutBytes, frameTexts } from "../../testing/wire-bytes.js";
import { comparePipelines } from "./compare.js";

const BATCHES = 10;
const utf8 = new TextEncoder();

/** The JSON texts that a producer writes for the events of a stream. */
export type Writer = (random: Random, seed: number, events: readonly AgUiEvent[]) => string[];

/** The least a set of comparisons must contain to prove something. */
export type Expected = { accepted: number; refused: number; differing: number };

type Tally = { accepted: number; refused: number; differing: number };

/** Streams of one test file: half of the 20,000 that a run of the suite compares. */
function streamsPerFile(): number {
  return Math.ceil(Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 20_000) / 2);
}

/**
 * Declares the tests of one kind of stream, in batches so that a long run shows progress.
 *
 * `firstSeed` keeps the files apart; a failing stream is reported as small as leaving events out makes it.
 */
export function compareInBatches(firstSeed: number, writer: Writer, expected: Expected): void {
  const perBatch = Math.ceil(streamsPerFile() / BATCHES);
  const streams = perBatch * BATCHES;
  const timeout = 30_000 + perBatch * 100;
  const total: Tally = { accepted: 0, refused: 0, differing: 0 };

  beforeAll(() => {
    // The client warns about everything it removes and skips, and in a test environment it copies and
    // freezes the whole conversation before each event.
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    vi.stubEnv("SUPPRESS_TRANSFORMATION_WARNINGS", "true");
    vi.stubEnv("NODE_ENV", "production");
    vi.stubEnv("VITEST_WORKER_ID", "");
  });
  afterAll(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  for (let batch = 0; batch < BATCHES; batch++) {
    const from = firstSeed + batch * perBatch;
    test(
      `streams ${batch * perBatch + 1} to ${(batch + 1) * perBatch} give the same events in our pipeline and in the official client`,
      {
        timeout,
      },
      async () => {
        let failure: unknown;
        for (let seed = from; seed < from + perBatch && failure === undefined; seed++) {
          failure = await compareOne(seed, writer, total);
        }
        expect(failure).toBeUndefined();
      },
    );
  }

  test("enough streams were accepted and refused by both, and few met a written difference", () => {
    expect(total.accepted / streams).toBeGreaterThan(expected.accepted);
    expect(total.refused / streams).toBeGreaterThan(expected.refused);
    expect(total.differing / streams).toBeLessThan(expected.differing);
    expect(total.accepted + total.refused + total.differing).toBe(streams);
  });
}

async function compareOne(seed: number, writer: Writer, total: Tally): Promise<unknown> {
  const random = new Random(seed ^ 0x5bd1e995);
  // The client copies the conversation at every event, so most streams are short.
  const { input, events } = generateStream(seed, seed % 40 === 0 ? 42 : 8);
  const texts = writer(random, seed, events);
  const pieces = cutBytes(random, utf8.encode(frameTexts(random, texts)));
  const comparison = await comparePipelines(input, pieces);
  if (comparison.kind === "unequal") return minimise(seed, input, texts, comparison.facts);
  if (comparison.kind === "difference") total.differing++;
  else if (comparison.refused) total.refused++;
  else total.accepted++;
  return undefined;
}

/** The fewest texts that still differ, in plain frames where that is enough. */
async function minimise(
  seed: number,
  input: RunAgentInput,
  texts: readonly string[],
  facts: object,
): Promise<object> {
  let smallest = [...texts];
  let found: object = { ...facts, note: "differs only as framed" };
  for (let index = smallest.length - 1; index >= 0; index--) {
    const shorter = smallest.toSpliced(index, 1);
    const framed = shorter.map((text) => `data: ${text.replaceAll("\n", "\ndata: ")}\n\n`);
    const comparison = await comparePipelines(input, [utf8.encode(framed.join(""))]);
    if (comparison.kind !== "unequal") continue;
    smallest = shorter;
    found = comparison.facts;
  }
  return { seed, texts: smallest, found };
}
