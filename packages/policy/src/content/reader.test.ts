import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { settingsOf } from "./testing/settings-of.js";
import { CONTENT_PARTS } from "../vocabulary/content-part.js";
import type { ContentPart } from "../vocabulary/content-part.js";
import { UI_EVENT_TYPES } from "../vocabulary/event-type.js";
import { createContentReader } from "./reader.js";
import { COUNTEREXAMPLES } from "./testing/counterexamples.js";

const SETTINGS = settingsOf({ maxCharacters: 1000 });
const text = (messageId: string, delta: string): JsonObject => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId,
  delta,
});

test("messages that are streamed side by side are read apart", () => {
  const reader = createContentReader(SETTINGS);
  const read = reader.read.bind(reader);
  expect(read(text("a", "![x]("))).toBeNull();
  expect(read(text("b", "https://one.example/"))).toBeNull();
  expect(read(text("a", "https://two.example/"))?.kind).toBe("images");
});

test("a further text of a message is read as it is beside other members", () => {
  const pieces = fc.constantFrom("![x](", "https://evil.example/)", "`", "a", "\u200b", "<b ", ">");
  const delta = fc.oneof(pieces, fc.string({ maxLength: 30 }));
  const events = fc.array(
    fc.record({
      type: fc.constantFrom("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT"),
      messageId: fc.constantFrom("a", "b"),
      delta,
    }),
    { maxLength: 12 },
  );
  const limits = fc.record({
    maxCharacters: fc.constantFrom(12, 1000),
    maxEventCharacters: fc.constantFrom(8, 25, 1000),
  });
  fc.assert(
    fc.property(events, limits, fc.boolean(), (stream, limit, isTextOnly) => {
      const parts = new Set<ContentPart>(isTextOnly ? ["text"] : ["text", "reasoning"]);
      const settings = settingsOf({ ...limit, parts });
      const earlier = (id: string) => (id === "a" ? "![x](" : undefined);
      const [reader, careful] = [
        createContentReader(settings, earlier),
        createContentReader(settings, earlier),
      ];
      for (const event of stream) {
        // With metadata, every text of the event is looked for.
        expect(reader.read(event)).toEqual(careful.read({ ...event, metadata: {} }));
      }
    }),
  );
});

test("what a message said before the stream counts", () => {
  const reader = createContentReader(SETTINGS, (id) => (id === "a" ? "![x](" : undefined));
  const read = reader.read.bind(reader);
  expect(read(text("b", "https://one.example/"))).toBeNull();
  expect(read(text("a", "https://two.example/"))?.kind).toBe("images");
});

test("events without text are nothing to read", () => {
  const reader = createContentReader(SETTINGS);
  const read = reader.read.bind(reader);
  for (const event of [
    {},
    { type: "TEXT_MESSAGE_START", messageId: "a" },
    { type: "TEXT_MESSAGE_CHUNK", messageId: "a" },
    { type: "RUN_ERROR" },
    { type: "TOOL_CALL_RESULT", content: "<script>" },
    { type: "CUSTOM", name: "x", value: "<script>" },
  ]) {
    expect(read(event)).toBeNull();
  }
});

test("ten thousand messages are kept apart, and one more ends the stream", () => {
  const reader = createContentReader(SETTINGS);
  const read = reader.read.bind(reader);
  for (let count = 0; count < 10_000; count += 1) read(text(`m${count}`, "x"));
  expect(read(text("m1", "y"))).toBeNull();
  expect(() => read(text("one more", "x"))).toThrow("maxReadMessages");
});

const IMAGE = "See ![x](https://evil.example/)";
const PARTS: readonly (readonly [ContentPart, string, JsonObject])[] = [
  ["text", "", text("m", IMAGE)],
  ["text", "", { type: "RUN_ERROR", message: IMAGE }],
  ["reasoning", "", { type: "REASONING_MESSAGE_CONTENT", messageId: "m", delta: IMAGE }],
  ["tool_results", "/content", { type: "TOOL_CALL_RESULT", content: IMAGE }],
  [
    "tool_results",
    "/content/1/text",
    { type: "TOOL_CALL_RESULT", content: [{ type: "image" }, { type: "text", text: IMAGE }] },
  ],
  ["activities", "/content/a/0", { type: "ACTIVITY_SNAPSHOT", content: { a: [IMAGE] } }],
  [
    "activities",
    "/patch/0/value",
    { type: "ACTIVITY_DELTA", patch: [{ op: "add", path: "/t", value: IMAGE }] },
  ],
  ["state", "/snapshot/note", { type: "STATE_SNAPSHOT", snapshot: { n: 1, note: IMAGE } }],
  [
    "state",
    "/delta/0/value/x",
    { type: "STATE_DELTA", delta: [{ op: "add", path: "/t", value: { x: IMAGE } }] },
  ],
  [
    "questions",
    "/outcome/interrupts/0/message",
    { type: "RUN_FINISHED", outcome: { type: "interrupt", interrupts: [{ message: IMAGE }] } },
  ],
  ["custom", "/value", { type: "CUSTOM", name: "x", value: IMAGE }],
];

test.each(PARTS)(
  "%s%s is read where the policy asks for it, and not where it does not",
  (part, pointer, event) => {
    const found = createContentReader(settingsOf({ parts: new Set([part]) })).read(event);
    expect(found?.kind).toBe("images");
    expect(found?.part ?? "").toBe(pointer);
    const others = new Set(CONTENT_PARTS.filter((other) => other !== part));
    expect(createContentReader(settingsOf({ parts: others })).read(event)).toBeNull();
  },
);

const NAME = "![x](//evil.example/~)";
const SEGMENT = NAME.replaceAll("~", "~0").replaceAll("/", "~1");

test.each([
  ["path", { op: "add", path: `/a/${SEGMENT}/b`, value: 1 }],
  ["path", { op: "add", path: `/\n\`\`\`\n/${SEGMENT}`, value: 1 }],
  ["path", { op: "add", path: "/\n```\n/![x](http:evil.example)", value: 1 }],
  ["from", { op: "move", from: `/${SEGMENT}`, path: "/a" }],
])("a name in the %s of a patch is read as the member that it names", (_, operation) => {
  const settings = settingsOf({ parts: new Set(["state", "activities"]) });
  for (const event of [
    { type: "STATE_SNAPSHOT", snapshot: { [NAME]: 1 } },
    { type: "STATE_DELTA", delta: [{ op: "test", path: "/a/b~1c", value: 1 }, operation] },
    { type: "ACTIVITY_DELTA", patch: [operation] },
  ]) {
    expect(createContentReader(settings).read(event)?.kind).toBe("images");
  }
});

test("the strings of a tool result that is JSON are read as a page that parses it shows them", () => {
  const settings = settingsOf({ parts: new Set(["tool_results"]), isByEvent: true });
  const kindOf = (content: JsonValue): string | undefined =>
    createContentReader(settings).read({ type: "TOOL_CALL_RESULT", content })?.kind;
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.nat(2), (before, after, times) => {
      let text: string = IMAGE;
      for (let time = 0; time <= times; time += 1) text = JSON.stringify([text]);
      const escaped = text.replaceAll("!", "\\u0021");
      const json = `[${JSON.stringify(before)},${escaped},${JSON.stringify(after)}]`;
      expect(kindOf(json)).toBeTypeOf("string");
      expect(kindOf([{ type: "text", text: json }])).toBeTypeOf("string");
    }),
  );
  expect(kindOf('{"a":"`","b":"![x](https://evil.example/)","c":"`"}')).toBe("images");
  expect(kindOf('{"a":"\\n```html\\n<img src=\\"https://a.example/\\">\\n```"}')).toBeUndefined();
  expect(kindOf('{"a":"\\ud800\\u0021[x](https://evil.example/)"}')).toBe("images");
  // No page can parse it.
  expect(kindOf('{"a":"\\x21[x](https://evil.example/)')).toBeUndefined();
  expect(kindOf(`{"${'\\"'.repeat(100_000)}`)).toBeUndefined();
});

test("text parts of a tool result are read as one text too: clients join them", () => {
  const settings = settingsOf({ parts: new Set(["tool_results"]) });
  const read = (texts: readonly string[]): string | undefined => {
    const content = texts.map((one) => ({ type: "text", text: one }));
    return createContentReader(settings).read({ type: "TOOL_CALL_RESULT", content })?.kind;
  };
  const found = fc.constantFrom(...COUNTEREXAMPLES.map(([, one]) => one));
  fc.assert(
    fc.property(found, fc.array(fc.nat(200)), (one, places) => {
      const ends = places.map((place) => place % one.length).toSorted((a, b) => a - b);
      const cuts = [0, ...ends, one.length];
      const texts = cuts.slice(1).map((end, index) => one.slice(cuts[index], end));
      expect(read(texts)).toBeTypeOf("string");
      expect(read(one.split("\n"))).toBeTypeOf("string");
    }),
  );
  expect(read(["<scr", "ipt>x</script>"])).toBe("markup");
  expect(read(["see ![a](", "https://evil.example/x)"])).toBe("images");
  expect(read(["<img", "src=//evil.example/x>"])).toBe("markup");
  expect(read(["```html\n<b onclick=x>\n```", "and more"])).toBeUndefined();
  expect(read(["{", '"a": 1, "b": [', "]}"])).toBeUndefined();
});

test("the pointer repeats no name that could be a sentence, and is short", () => {
  const reader = createContentReader(settingsOf({ parts: new Set(["state"]) }));
  const odd = reader.read({ type: "STATE_SNAPSHOT", snapshot: { "call me at <b>": { a: IMAGE } } });
  expect(odd?.part).toBe("/snapshot/*/a");
  let deep: JsonObject = { a: IMAGE };
  for (let depth = 0; depth < 60; depth += 1) deep = { deeper: deep };
  expect(reader.read({ type: "STATE_SNAPSHOT", snapshot: deep })?.part?.length).toBe(201);
});

test("how long a message may be does not bound a text of the state", () => {
  const settings = settingsOf({ parts: new Set(["state", "text"]), maxCharacters: 5 });
  const reader = createContentReader(settings);
  expect(reader.read({ type: "STATE_SNAPSHOT", snapshot: "a longer text" })).toBeNull();
  expect(reader.read(text("m", "a longer text"))).toEqual({ kind: "max_characters", offset: 5 });
});

test("what is found is named by its offset in the message, however it is cut", () => {
  const whole = createContentReader(SETTINGS).read(text("m", IMAGE));
  const reader = createContentReader(SETTINGS);
  const found = IMAGE.split("").map((letter) => reader.read(text("m", letter)));
  expect(found.find((one) => one !== null)).toEqual(whole);
  expect(whole).toEqual({ kind: "images", offset: IMAGE.indexOf("https:") + "https".length });
});

const enveloped = (event_type: JsonValue, payload: JsonValue): JsonObject => ({
  event_type,
  classification: "display",
  payload,
});
const wrapped = fc.array(
  fc.constantFrom<(value: JsonValue) => JsonValue>(
    (value) => ({ message: value }),
    (value) => ({ text: "fine", title: value }),
    (value) => ["fine", value],
    (value) => ({ "a b": value }),
    (value) => ({ [typeof value === "string" ? value : "x"]: value }),
  ),
  { maxLength: 4 },
);

test("every string of an envelope is read, whatever its type and wherever it stands", () => {
  const types = fc.constantFrom<JsonValue>(...UI_EVENT_TYPES.filter((type) => type !== "custom"), {
    custom: "x",
  });
  fc.assert(
    fc.property(types, wrapped, (type, wraps) => {
      const payload = wraps.reduce<JsonValue>((value, wrap) => wrap(value), IMAGE);
      expect(createContentReader(SETTINGS).read(enveloped(type, payload))?.kind).toBe("images");
    }),
  );
});

const TARGET = { component_type: "chat-window", component_id: "main" };

/** Ways in which a client says that two texts belong together. */
const JOINED_BY: Readonly<Record<string, (event: JsonObject, value: string) => JsonObject>> = {
  id: (event, value) => within(event, "payload", { id: value }),
  component: (event, value) => within(event, "target", { component_id: value }),
  type: (event, value) => within(event, "target", { component_type: value }),
  agent: (event, value) => ({ ...event, agent_id: value }),
  run: (event, value) => within(event, "payload", { run_id: value }),
};

function within(event: JsonObject, name: string, members: JsonObject): JsonObject {
  return { ...event, [name]: { ...(event[name] as JsonObject | undefined), ...members } };
}

test("whatever a client joins the texts of envelopes by, it gets no image", () => {
  const places = fc.uniqueArray(fc.constantFrom(...Object.keys(JOINED_BY)));
  const others = fc.array(fc.constantFrom(...Object.keys(JOINED_BY)), { maxLength: 3 });
  fc.assert(
    fc.property(
      places,
      others,
      fc.integer({ min: 1, max: IMAGE.length - 1 }),
      fc.boolean(),
      (joining, varied, cut, isOtherMember) => {
        fc.pre(joining.length > 0);
        const [first = "id"] = joining;
        const put = (text: string, value: string, round: number, member = "delta"): JsonObject => {
          let event = enveloped("text_stream", { [member]: text });
          for (const name of joining) event = JOINED_BY[name]?.(event, "a") ?? event;
          // Members that the client ignores differ each time.
          for (const name of varied.filter((one) => !joining.includes(one))) {
            event = JOINED_BY[name]?.(event, `v${round}`) ?? event;
          }
          return JOINED_BY[first]?.(event, value) ?? event;
        };
        const reader = createContentReader(SETTINGS);
        const found = [
          put(IMAGE.slice(0, cut), "a", 0),
          put("x)\n\n", "b", 1, isOtherMember ? "text" : "delta"),
          put(IMAGE.slice(cut), "a", 2),
        ].map((event) => reader.read(event)?.kind);
        expect(found).toContain("images");
      },
    ),
  );
});

test("texts of one member are read beside those of another", () => {
  const reader = createContentReader(SETTINGS);
  expect(reader.read(enveloped("text_stream", { delta: "Hi ![a](" }))).toBeNull();
  expect(reader.read(enveloped("text_stream", { text: "x) " }))).toBeNull();
  expect(reader.read(enveloped("text_stream", { delta: "//evil.example/?d=1)" }))?.kind).toBe(
    "images",
  );
});

test("an id for each text of a long stream is allowed, and an id that returns late ends the run", () => {
  const reader = createContentReader(SETTINGS);
  for (let at = 0; at < 500; at += 1) {
    const event = { ...enveloped("text_stream", { id: `c${at}`, delta: "w" }), target: TARGET };
    expect(reader.read({ ...event, agent_id: "a" })).toBeNull();
  }
  expect(() => reader.read(enveloped("text_stream", { id: "c1", delta: "w" }))).toThrow(
    /maxReadMessages/,
  );
});

test.each(["agent_id", "event_id", "session_id", "target"])(
  "the %s of an envelope is read",
  (name) => {
    const event = enveloped("text_stream", { text: "Hello." });
    const label = name === "target" ? { component_id: IMAGE } : IMAGE;
    expect(createContentReader(SETTINGS).read({ ...event, [name]: label })?.kind).toBe("images");
  },
);

test("the texts of envelopes are read as one message and each by itself", () => {
  const appended = createContentReader(SETTINGS);
  expect(appended.read(enveloped("text_stream", { text: "See ![x](htt" }))).toBeNull();
  expect(appended.read(enveloped("text_stream", { delta: "ps://evil.example/" }))?.kind).toBe(
    "images",
  );
  // A client may show each as a message of its own, or join any of them: nothing is code.
  const alone = createContentReader(SETTINGS);
  expect(alone.read(enveloped("text_stream", { text: "```\n" }))).toBeNull();
  expect(alone.read(enveloped("text_stream", { text: IMAGE }))).toMatchObject({ kind: "images" });
});

test("what was not delivered of envelopes is not in what a client joins", () => {
  const [half, rest, harmless] = ["![", "](https://evil.example/x)", "<b title='"].map((text) =>
    enveloped("text_stream", { text }),
  ) as [JsonObject, JsonObject, JsonObject];
  const twice = createContentReader(SETTINGS);
  expect(twice.read(half)).toBeNull();
  twice.settle(half, true);
  for (let times = 0; times < 3; times += 1) {
    expect(twice.read(rest)).toMatchObject({ kind: "images" });
    twice.settle(rest, false);
  }
  // Blocked for another reason, it would have hidden the image in an attribute.
  const blocked = createContentReader(SETTINGS);
  blocked.read(harmless);
  blocked.settle(harmless, false);
  expect(blocked.read(half)).toBeNull();
  blocked.settle(half, true);
  expect(blocked.read(rest)).toMatchObject({ kind: "images" });
  // The reader does not read a stream again without limit if every text is blocked.
  const often = createContentReader(SETTINGS);
  expect(() => {
    for (let times = 0; times < 100; times += 1) {
      often.read(rest);
      often.settle(rest, false);
    }
  }).toThrow(/maxReadMessages/);
});

test("a name of a member is read where it is more than a plain name", () => {
  const reader = createContentReader(settingsOf({ parts: new Set(["state"]) }));
  expect(reader.read({ type: "STATE_SNAPSHOT", snapshot: { [IMAGE]: 1 } })).toMatchObject({
    kind: "images",
    part: "/snapshot/*",
  });
  expect(reader.read({ type: "STATE_SNAPSHOT", snapshot: { "Order no. 5": 1 } })).toBeNull();
});

test("a sentence in invisible characters is found however it is divided among the values of an event", () => {
  const hidden = [...Array<number>(80).keys()].map((at) =>
    String.fromCodePoint(0xe0041 + (at % 26)),
  );
  const valuesOf = (size: number, count: number): string[] =>
    hidden
      .slice(0, count)
      .flatMap((_, at) =>
        at % size === 0 ? [`word ${hidden.slice(at, Math.min(at + size, count)).join("")}`] : [],
      );
  const parts = new Set(["text", "state", "activities", "custom"] as const);
  const reader = createContentReader(settingsOf({ parts }));
  for (const size of [1, 3, 7]) {
    for (const count of [64, 80]) {
      const values = valuesOf(size, count);
      const kind = count > 64 ? "hidden" : undefined;
      for (const event of [
        { type: "STATE_SNAPSHOT", snapshot: values },
        { type: "STATE_DELTA", delta: values.map((value) => ({ op: "add", path: "/a/-", value })) },
        { type: "ACTIVITY_SNAPSHOT", activityType: "card", content: { values } },
        {
          type: "CUSTOM",
          name: "note",
          value: Object.fromEntries(values.map((one, at) => [`${at} ${one}`, 1])),
        },
        enveloped("state_update", { values }),
      ] as JsonObject[]) {
        expect([event, reader.read(event)?.kind]).toEqual([event, kind]);
      }
    }
  }
});
