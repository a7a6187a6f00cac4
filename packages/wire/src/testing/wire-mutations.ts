import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiEvent } from "../model/event.js";
import type { Random } from "./random.js";

type EventMutation = (random: Random, event: JsonObject) => void;
type TextMutation = (random: Random, text: string) => string;

const WRONG_VALUES: readonly JsonValue[] = [null, 1, 1.5, "", "x", true, [], {}, [{}], ["a"]];

const TYPED = { type: "data", value: "AA==", mimeType: "image/png" };
const PARTS: readonly JsonObject[] = [
  { type: "binary", mimeType: "image/png", data: "AA==", filename: "a.png" },
  { type: "binary", mimeType: "image/png", data: "AA==" },
  { type: "binary", mimeType: "imagex", data: "AA==", url: 5 },
  { type: "binary", mimeType: "video/mp4", data: 5 },
  { type: "binary", mimeType: "image/png", data: "", url: "u", filename: 5 },
  { type: "image", source: TYPED },
  { type: "image", source: TYPED, metadata: { filename: "a.png" } },
  { type: "text", text: "x", metadata: null },
  { type: "text", text: "x" },
  { type: "binary", mimeType: "text/csv", url: "https://example.test/x" },
  { type: "binary", mimeType: "image/png", id: "only-an-id" },
  { type: "image", source: { type: "url", value: "https://example.test/i" }, metadata: null },
  { type: "image", source: { type: "future", value: "x" } },
  { type: "hologram", text: "x" },
];

function someMember(random: Random, event: JsonObject): string {
  return random.pick(["type", ...Object.keys(event)]);
}

function replaceMembers(event: JsonObject, members: JsonObject): void {
  for (const key of Object.keys(event)) delete event[key];
  Object.assign(event, members);
}

/** Members that 1.0 lets a producer leave out and older producers sent as null. */
const FORGIVEN_NULLS = ["rawEvent", "result", "outcome", "parentMessageId"];

/** Values that older, newer and broken producers write into one event. */
const EVENT_MUTATIONS: Readonly<Record<string, EventMutation>> = {
  unknownMember: (random, event) =>
    void (event[random.pick(["x", "toString", "encrypted_value_type", "thread_id"])] =
      random.pick(WRONG_VALUES)),
  unknownType: (random, event) =>
    void (event["type"] = random.pick(["FUTURE", "toString", "", "run_started"])),
  wrongValue: (random, event) =>
    void (event[someMember(random, event)] = structuredClone(random.pick(WRONG_VALUES))),
  missingMember: (random, event) => void delete event[someMember(random, event)],
  forgivenNull: (random, event) => void (event[random.pick(FORGIVEN_NULLS)] = null),
  outcome: (random, event) =>
    void (event["outcome"] = structuredClone(
      random.pick<JsonValue>([{ type: "future" }, { type: "success", x: 1 }, [], { type: 5 }]),
    )),
  parts: (random, event) => {
    const content = Array.from({ length: 1 + random.below(3) }, () => random.pick(PARTS));
    const role = random.pick(["user", "tool"]);
    const message = { id: "b1", role, toolCallId: "c1", content: structuredClone(content) };
    replaceMembers(
      event,
      random.chance(0.7)
        ? { type: "MESSAGES_SNAPSHOT", messages: [message] }
        : { type: "TOOL_CALL_RESULT", messageId: "b1", toolCallId: "c1", content: message.content },
    );
  },
};

/** Changes that a JSON writer, or an attacker, makes to the text of one event. */
const TEXT_MUTATIONS: Readonly<Record<string, TextMutation>> = {
  spaces: (_random, text) => text.replaceAll(",", " ,\t "),
  lines: (_random, text) => text.replaceAll(",", ",\n"),
  escapes: (_random, text) => text.replaceAll("e", "\\u0065"),
  cut: (random, text) => text.slice(0, random.below(text.length)),
  filler: (random) => random.pick(["[DONE]", "", "{}", "null", "[]", '"x"', "7"]),
  twiceKey: (random, text) => `${text.slice(0, -1)},"type":"${random.pick(["CUSTOM", "RAW"])}"}`,
  number: (random, text) =>
    `${text.slice(0, -1)},"timestamp":${random.pick(["1.7e12", "-0", "1e400", "9007199254740993", "01", "5.0"])}}`,
  rawNumber: (random, text) =>
    `${text.slice(0, -1)},"rawEvent":[${random.pick(["1e2", "0.1", "12345678901234567890", "1e-7"])}]}`,
  surrogate: (random, text) =>
    `${text.slice(0, -1)},"rawEvent":"${random.pick(["\\ud83d\\ude00", "\\ud83d", "\\udc00x"])}"}`,
  deep: (random, text) => {
    const depth = random.pick([10, 62, 70]);
    return `${text.slice(0, -1)},"rawEvent":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  },
};

const THINKING = [
  { type: "THINKING_START", title: "why" },
  { type: "THINKING_TEXT_MESSAGE_START" },
  { type: "THINKING_TEXT_MESSAGE_CONTENT", delta: "because" },
  { type: "THINKING_TEXT_MESSAGE_END" },
  { type: "THINKING_END" },
];

/** Puts the retired thinking events in, mostly whole. */
function think(random: Random, events: JsonObject[]): void {
  let at = random.below(events.length + 1);
  for (const event of THINKING) {
    if (random.chance(0.05)) continue;
    events.splice(at, 0, { ...event });
    at += random.chance(0.8) ? 1 : Math.min(2, events.length - at);
  }
}

/** The JSON texts of a stream, untouched. */
export function textsOf(events: readonly AgUiEvent[]): string[] {
  return events.map((event) => JSON.stringify(event));
}

/** The JSON texts of a stream in which one to three events are not as 1.0 writes them. */
export function mutateTexts(random: Random, events: readonly AgUiEvent[]): string[] {
  const values = structuredClone(events) as unknown as JsonObject[];
  if (random.chance(0.2)) think(random, values);
  const places = Array.from({ length: 1 + random.below(3) }, () => random.below(values.length));
  if (random.chance(0.7)) {
    for (const place of places) {
      const event = values[place];
      if (event !== undefined) random.pick(Object.values(EVENT_MUTATIONS))(random, event);
    }
    return values.map((value) => JSON.stringify(value));
  }
  const texts = values.map((value) => JSON.stringify(value));
  for (const place of places) {
    const text = texts[place];
    if (text !== undefined) texts[place] = random.pick(Object.values(TEXT_MUTATIONS))(random, text);
  }
  return texts;
}
