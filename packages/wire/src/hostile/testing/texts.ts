import type { Random } from "../../testing/random.js";

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "threadId",
  "thread_id",
  "messageId",
  "message_id",
  "subagentRunId",
  "subagent_run_id",
  "metadata",
  "rawEvent",
  "type",
  "",
];

const TYPES = [
  "RUN_STARTED",
  "TEXT_MESSAGE_START",
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_CHUNK",
  "TOOL_CALL_CHUNK",
  "MESSAGES_SNAPSHOT",
  "STATE_DELTA",
  "ACTIVITY_DELTA",
  "THINKING_START",
  "ERROR",
  "CUSTOM",
  "__proto__",
];

const NUMBERS = ["-0", "1e308", "1e309", "-1e-400", "9007199254740992", "0.1e1", "00", "1.", "NaN"];
const STRINGS = ["\\ud800", "\\udc00\\ud800", "\\u0000", "\\uFEFF", "\\", "\u2028", "\ud83d", "é"];

/** A JSON value as someone would write it who wants a reader to fall over. */
export function hostileValue(random: Random, depth: number): string {
  const kind = random.weighted({
    nested: 1,
    object: depth > 0 ? 4 : 0,
    list: depth > 0 ? 2 : 0,
    number: 2,
    text: 3,
    plain: 4,
    long: 0.05,
  });
  return MAKERS[kind](random, depth);
}

const MAKERS = {
  nested: nest,
  object: hostileObject,
  list: (random: Random, depth: number) =>
    `[${Array.from({ length: random.below(5) }, () => hostileValue(random, depth - 1)).join()}]`,
  number: (random: Random) => random.pick(NUMBERS),
  text: (random: Random) => `"${random.pick(STRINGS)}${random.pick(["", "x"])}"`,
  plain: (random: Random) => random.pick(["null", "true", '"a"', "1", "[]", "{}", "", '"m1"']),
  long: giant,
};

function hostileObject(random: Random, depth: number): string {
  const members = Array.from(
    { length: random.below(6) },
    () => `"${random.pick(NAMES)}":${hostileValue(random, depth - 1)}`,
  );
  return `{${members.join()}}`;
}

/** Brackets around the bound of 64, far above it, opened and not closed, or of mixed kinds. */
function nest(random: Random): string {
  const depth = random.pick([60, 63, 64, 65, 2000]);
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"a":', "}]"],
  ] as const);
  return `${open.repeat(depth)}1${random.chance(0.8) ? close.repeat(depth) : ""}`;
}

/** Some tens of kilobytes: many elements, many keys of one length, one long string. */
function giant(random: Random): string {
  const size = 1000 + random.below(4000);
  switch (random.below(4)) {
    case 0:
      return `[${"{},".repeat(size)}0]`;
    case 1:
      return `{${Array.from({ length: size }, (_, key) => `"${"k".repeat(8)}${key}":0`).join()}}`;
    case 2:
      return `"${"\\u0061".repeat(size)}"`;
    default:
      return `[${'{"op":"add","path":"/a/-","value":[]},'.repeat(size)}0]`;
  }
}

/** An event-like object with hostile members. */
export function hostileEvent(random: Random): string {
  const members = [`"type":"${random.pick(TYPES)}"`];
  if (random.chance(0.7)) members.push('"messageId":"m1"', '"threadId":"t"', '"runId":"r"');
  for (let count = random.below(4); count > 0; count--) {
    members.push(`"${random.pick(NAMES)}":${hostileValue(random, 3)}`);
  }
  for (const field of ["messages", "delta", "patch", "input", "content", "value"]) {
    if (random.chance(0.2)) members.push(`"${field}":${hostileValue(random, 3)}`);
  }
  return `{${members.join()}}`;
}
