import { parseJson } from "@countersign/core";
import { expect, test } from "vitest";
import { createProtoDecoder, encodeProto } from "../proto/index.js";
import { mutateBytes } from "../proto/testing/mutate-bytes.js";
import { createSseDecoder } from "../sse/index.js";
import { Random } from "../testing/random.js";
import { mutateStream } from "../testing/stream-mutations.js";
import { generateStream } from "../testing/streams.js";
import { cutBytes, frameTexts } from "../testing/wire-bytes.js";
import { mutateTexts, textsOf } from "../testing/wire-mutations.js";
import { createSocketRuns, decodeTextFrame, parseBearerSubprotocol } from "../websocket/index.js";
import {
  createCounts,
  createHostilePipeline,
  prototypeNames,
  survive,
} from "./testing/pipeline.js";
import { hostileEvent, hostileValue } from "./testing/texts.js";

// 100,000 inputs over all decoders and stages; each test has its share.
const TOTAL = Number(process.env["COUNTERSIGN_FUZZ_RUNS"] ?? 100_000);
const share = (part: number): number => Math.ceil(TOTAL * part);
const TIMEOUT = 60_000 + TOTAL * 3;
const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

const PROTOTYPES = prototypeNames();

/** Streams to damage: bytes of short streams, some with older or broken events. */
function* sseSeeds(): Generator<Uint8Array> {
  for (let seed = 0; ; seed++) {
    const random = new Random(seed);
    const { events } = generateStream(seed, 3);
    const order = seed % 3 === 0 ? mutateStream(seed, events) : events;
    const texts = seed % 2 === 0 ? textsOf(order) : mutateTexts(random, order);
    yield utf8.encode(frameTexts(random, texts));
  }
}

test(
  "flipped, cut, doubled and spliced SSE ends in events or in a coded error",
  { timeout: TIMEOUT },
  () => {
    const counts = createCounts();
    let other: Uint8Array = new Uint8Array(0);
    let seed = 0;
    for (const bytes of sseSeeds()) {
      if (counts.inputs >= share(0.4)) break;
      const at = bytes.length >> 1;
      const spliced = Uint8Array.of(...bytes.subarray(0, at), ...other.subarray(other.length >> 1));
      for (const damaged of [...mutateBytes(bytes, seed, 7), spliced]) {
        const random = new Random(seed++);
        survive(
          counts,
          () => new TextDecoder().decode(damaged),
          () => {
            const decoder = createSseDecoder({ maxLineBytes: random.pick([64, 4096]) });
            const pipeline = createHostilePipeline(seed, counts);
            let messages = 0;
            for (const piece of cutBytes(random, damaged)) {
              for (const { data } of decoder.push(piece)) {
                messages++;
                pipeline(parseJson(data));
              }
            }
            for (const { data } of decoder.end()) pipeline(parseJson(data));
            // A message takes at least "data" and two line endings.
            if (messages > damaged.length / 6) counts.broken.push("more messages than bytes allow");
          },
        );
      }
      other = bytes;
    }
    expect(counts.broken).toEqual([]);
    expect(counts.inputs).toBeGreaterThanOrEqual(share(0.4));
    expect(counts.survived).toBeGreaterThan(counts.inputs / 20);
  },
);

test(
  "damaged WebSocket text frames and sub-protocols end in texts or in a coded error",
  { timeout: TIMEOUT },
  () => {
    const counts = createCounts();
    let seed = 0;
    for (const bytes of sseSeeds()) {
      if (counts.inputs >= share(0.15)) break;
      for (const damaged of mutateBytes(bytes, seed, 8)) {
        const text = new TextDecoder().decode(damaged);
        const random = new Random(seed++);
        survive(
          counts,
          () => text,
          () => {
            parseBearerSubprotocol(
              random.chance(0.5) ? text : `base64UrlBearerAuthorization.${text}`,
            );
            const runs = createSocketRuns({ maxRuns: 4 });
            if (random.chance(0.9)) runs.input();
            const pipeline = createHostilePipeline(seed, counts);
            const texts = decodeTextFrame(random.chance(0.5) ? text : text.slice(6), {
              maxFrameBytes: random.pick([100, 100_000]),
            });
            if (texts.length > text.length / 4 + 1)
              counts.broken.push("more texts than characters");
            for (const json of texts) {
              const value = parseJson(json);
              pipeline(value);
              runs.event(String((value as { type?: unknown } | null)?.type));
            }
          },
        );
      }
    }
    expect(counts.broken).toEqual([]);
  },
);

test(
  "damaged protobuf frames go through every stage, or end in a coded error",
  { timeout: TIMEOUT },
  () => {
    const counts = createCounts();
    for (let seed = 0; counts.inputs < share(0.2); seed++) {
      const { events } = generateStream(seed, 3);
      const frames = events.flatMap((event) => [...encodeProto(event)]);
      for (const damaged of mutateBytes(Uint8Array.from(frames), seed, 8)) {
        const random = new Random(seed);
        survive(
          counts,
          () => damaged.join(),
          () => {
            const decoder = createProtoDecoder({ maxFrameBytes: random.pick([200, 100_000]) });
            const pipeline = createHostilePipeline(seed, counts);
            for (const piece of cutBytes(random, damaged)) {
              for (const event of decoder.push(piece)) pipeline(event);
            }
            decoder.end();
          },
        );
      }
    }
    expect(counts.broken).toEqual([]);
  },
);

test(
  "JSON made to break readers is refused with a code, or read like JSON.parse reads it",
  { timeout: TIMEOUT },
  () => {
    const counts = createCounts();
    for (let seed = 0; counts.inputs < share(0.25); seed++) {
      const random = new Random(seed);
      const text = random.chance(0.6) ? hostileEvent(random) : hostileValue(random, 4);
      survive(
        counts,
        () => text,
        () => {
          const bytes = utf8.encode(text);
          const value = parseJson(random.chance(0.5) ? text : bytes);
          if (JSON.stringify(value) !== JSON.stringify(JSON.parse(fromUtf8.decode(bytes)))) {
            counts.broken.push(`read otherwise: ${text.slice(0, 200)}`);
          }
          createHostilePipeline(seed, counts)(value);
        },
      );
    }
    expect(counts.broken).toEqual([]);
    for (const code of ["DUPLICATE_KEY", "TOO_DEEP", "UNSAFE_NUMBER", "LONE_SURROGATE", "SYNTAX"]) {
      expect(counts.codes.get(`ERR_JSON_${code}`)).toBeGreaterThan(0);
    }
  },
);

test("no input above has altered a prototype", () => {
  expect(prototypeNames()).toEqual(PROTOTYPES);
});
