import { parseJson, writeJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import {
  createUpgrader,
  unwrapEnvelope,
  unwrapPartialEnvelope,
  upgradeInput,
} from "@countersign/wire/dialects";
import { enforceCapabilities, enforceEvent, enforceInput } from "@countersign/wire/enforce";
import { enforceEventCompactly, enforceInputCompactly } from "@countersign/wire/enforce/compact";
import { acceptsProto, createProtoDecoder, encodeProto } from "@countersign/wire/proto";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { createSseDecoder, encodeSse } from "@countersign/wire/sse";
import {
  buildBearerSubprotocols,
  decodeTextFrame,
  parseBearerSubprotocol,
} from "@countersign/wire/websocket";
import { isEventType } from "@countersign/wire";
import {
  createCounts,
  createHostilePipeline,
  survive,
} from "../../packages/wire/src/hostile/testing/pipeline.js";
import { parsePointer } from "../../packages/wire/src/reduce/json-patch.js";
import { generateStream } from "../../packages/wire/src/testing/streams.js";
import { attempt, cut, hold, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const STREAMS = [1, 2, 3, 4, 5, 6].map((seed) => generateStream(seed, 12));
const EVENT_LINES = STREAMS.map(({ events }) =>
  events.map((event) => JSON.stringify(event)).join("\n"),
);
const INPUTS = STREAMS.map(({ input }) => JSON.stringify(input));
const EVENT_WORDS = [
  '"type":"TEXT_MESSAGE_CHUNK"',
  '"type":"TOOL_CALL_START"',
  '"type":"STATE_DELTA"',
  '"type":"MESSAGES_SNAPSHOT"',
  '"type":"RUN_STARTED"',
  '"type":"RUN_FINISHED"',
  '"type":"SUBAGENT_STARTED"',
  '"type":"THINKING_START"',
  '"toolCallId":"c1"',
  '"messageId":"m1"',
  '"delta":[{"op":"add","path":"/a","value":1}]',
  '"rawEvent":{}',
  "tool_call_id",
  '"outcome":{"type":"interrupt","interrupts":[]}',
];
const LIMITS = { maxDepth: 32, maxValues: 2000 };
const SMALL = { maxLineBytes: 256, maxEventBytes: 512, maxFrameBytes: 512, maxDepth: 32 };

/** Everything a decoder gives out until it fails, and the code of its failure. */
type Drained = { readonly values: unknown[]; readonly code: string };

function drain(
  push: (part: Uint8Array) => readonly unknown[],
  end: () => readonly unknown[] | void,
  failureCode: () => string | undefined,
  parts: readonly Uint8Array[],
): Drained {
  const values: unknown[] = [];
  for (const part of parts) {
    if (failureCode() !== undefined) break;
    const outcome = attempt(() => push(part));
    if (outcome.ok) values.push(...outcome.value);
  }
  if (failureCode() === undefined) {
    const outcome = attempt(end);
    if (outcome.ok && outcome.value !== undefined) values.push(...outcome.value);
  }
  return { values, code: failureCode() ?? "" };
}

function drainSse(parts: readonly Uint8Array[]): Drained {
  const decoder = createSseDecoder(SMALL);
  return drain(
    (part) => decoder.push(part),
    () => decoder.end(),
    () => decoder.failure?.code,
    parts,
  );
}

function drainProto(parts: readonly Uint8Array[]): Drained {
  const decoder = createProtoDecoder(SMALL, { maxObjects: 500 });
  return drain(
    (part) => decoder.push(part),
    () => decoder.end(),
    () => decoder.error?.code,
    parts,
  );
}

/** The JSON objects in the lines of a text. */
function objectsOf(input: Uint8Array): JsonObject[] {
  return textOf(input)
    .split("\n")
    .slice(0, 40)
    .flatMap((line) => {
      const outcome = attempt(() => parseJson(line, LIMITS));
      const { value } = outcome.ok ? outcome : { value: null };
      return typeof value === "object" && value !== null && !Array.isArray(value) ? [value] : [];
    });
}

/** What a pure function makes of a value, and that it leaves the value as it was. */
function pure<Value>(value: JsonValue, apply: () => Value) {
  const before = writeJson(value);
  const outcome = attempt(apply);
  hold(writeJson(value) === before, "the value stays as it was");
  return outcome;
}

export const WIRE_TARGETS: readonly FuzzTarget[] = [
  {
    name: "sse",
    property: "an SSE stream gives the same messages and the same error wherever it is cut",
    covers: [
      "packages/wire/src/sse/decode.ts#createSseDecoder",
      "packages/wire/src/sse/blocks.ts#BlockReader",
    ],
    dictionary: ["data:", "data: ", "event:", "id:", "retry:", ":", "\r", "\n\n", "\r\n", "\u0000"],
    seeds: [
      'data: {"type":"RUN_STARTED"}\n\nid: 1\nevent: x\nretry: 5\ndata: a\ndata: b\n\n: ping\n\n',
      "\uFEFFdata: a\r\n\r\ndata: b\r\rdata\n\n",
      "data: unterminated",
    ],
    run(input) {
      const whole = drainSse([input]);
      holdEqual(drainSse(cut(input)), whole, "the cuts change nothing");
      const bytes = Array.from(input, (byte) => Uint8Array.of(byte));
      holdEqual(drainSse(bytes), whole, "single bytes change nothing");
      for (const message of whole.values as readonly { data: string }[]) {
        hold(message.data.length <= SMALL.maxEventBytes, "a message keeps to its limit");
        if (/[\r\n\0]/u.test(message.data)) continue;
        const again = drainSse([new TextEncoder().encode(encodeSse(message.data))]);
        if (again.code !== "") continue;
        const data = (again.values as readonly { data: string }[]).map((one) => one.data);
        holdEqual(data, [message.data], "what is written is read again");
      }
    },
  },
  {
    name: "websocket-frame",
    property: "a text frame is one JSON text or SSE events, and reads as the SSE decoder reads it",
    covers: [
      "packages/wire/src/websocket/decode.ts#decodeTextFrame",
      "packages/wire/src/websocket/bearer.ts#parseBearerSubprotocol",
    ],
    dictionary: ["data:", "data: {", "\uFEFF", "\n\n", "base64UrlBearerAuthorization", ".", ", "],
    seeds: ['{"a":1}', 'data: {"a":1}\n\ndata: 2\n\n', buildBearerSubprotocols("abc").join(", ")],
    run(input) {
      const text = textOf(input);
      const frame = attempt(() => decodeTextFrame(text, SMALL));
      if (frame.ok && frame.value[0] !== text) {
        const sse = drainSse([new TextEncoder().encode(text)]);
        if (sse.code === "") {
          const data = (sse.values as readonly { data: string }[]).map((one) => one.data);
          holdEqual(frame.value, data, "a frame reads as a stream does");
        }
      }
      const bearer = attempt(() => parseBearerSubprotocol(text));
      if (!bearer.ok || bearer.value === undefined) return;
      const written = buildBearerSubprotocols(bearer.value.token);
      holdEqual(parseBearerSubprotocol(written)?.token, bearer.value.token, "a token survives");
    },
  },
  {
    name: "proto",
    property:
      "protobuf frames give the same events wherever they are cut, and enforced ones survive a round trip",
    covers: [
      "packages/wire/src/proto/decode.ts#createProtoDecoder",
      "packages/wire/src/proto/read-event.ts#readEvent",
      "packages/wire/src/proto/read-message.ts#readMessage",
      "packages/wire/src/proto/read-value.ts#readValue",
      "packages/wire/src/proto/read-value.ts#readStruct",
      "packages/wire/src/proto/read-state.ts#readText",
      "packages/wire/src/proto/read-state.ts#readEnd",
      "packages/wire/src/proto/accept.ts#acceptsProto",
    ],
    seeds: STREAMS.flatMap(({ events }) =>
      events.slice(0, 6).flatMap((event) => {
        const outcome = attempt(() => encodeProto(event));
        return outcome.ok ? [outcome.value] : [];
      }),
    ),
    run(input) {
      const whole = drainProto([input]);
      holdEqual(drainProto(cut(input)), whole, "the cuts change nothing");
      for (const value of whole.values as readonly JsonObject[]) {
        const enforced = attempt(() => enforceEvent(value));
        if (!enforced.ok || enforced.value.event === undefined) continue;
        const { event } = enforced.value;
        const written = attempt(() => encodeProto(event));
        if (!written.ok) continue;
        const again = drainProto([written.value]);
        if (again.code === "ERR_LIMIT_EXCEEDED" || again.code === "ERR_PROTO_TOO_MANY_OBJECTS")
          continue;
        hold(again.code === "", `what is written is read again, not ${again.code}`);
        const [first] = again.values as readonly JsonObject[];
        const enforcedAgain = enforceEvent(first ?? null);
        const twice = attempt(() => encodeProto(enforcedAgain.event ?? event));
        holdEqual(twice.ok && Array.from(twice.value), Array.from(written.value), "a fixed point");
      }
      hold(typeof acceptsProto(textOf(input)) === "boolean", "an Accept header is yes or no");
    },
  },
  {
    name: "events",
    property:
      "every stage after the decoder (translate, enforce, expand, order, reduce, write) gives events or a coded error, bounded",
    covers: [
      "packages/wire/src/chunks/expand.ts#createChunkExpander",
      "packages/wire/src/dialects/legacy/thinking.ts#createThinkingTranslator",
      "packages/wire/src/dialects/superseded/call-buffer.ts#parseCarriedJson",
    ],
    dictionary: EVENT_WORDS,
    maxBytes: 4096,
    seeds: [
      ...EVENT_LINES,
      '{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a"}\n{"type":"TEXT_MESSAGE_CHUNK","delta":"b"}',
      '{"type":"text","content":"a"}\n{"type":"tool_call","name":"x","arguments":"{}"}',
      '{"event_id":"e","timestamp":1,"agent_id":"a","event_type":"render","classification":"read_only","payload":{}}',
    ],
    run(input) {
      for (const seed of [input.length, input.length + 3]) {
        const counts = createCounts();
        const push = createHostilePipeline(seed, counts);
        survive(
          counts,
          () => "",
          () => objectsOf(input).forEach((value) => push(value)),
        );
        hold(counts.broken.length === 0, counts.broken.join("; "));
      }
    },
  },
  {
    name: "enforce",
    property:
      "the generated checks and the general checks of AG-UI 1.0 give the same event and notes",
    covers: [
      "packages/wire/src/enforce/enforce.ts#enforceEvent",
      "packages/wire/src/enforce/enforce.ts#enforceInput",
      "packages/wire/src/enforce/compact.ts#enforceEventCompactly",
      "packages/wire/src/enforce/compact.ts#enforceInputCompactly",
      "packages/wire/src/enforce/capabilities.ts#enforceCapabilities",
    ],
    dictionary: EVENT_WORDS,
    seeds: [...EVENT_LINES.flatMap((lines) => lines.split("\n")), ...INPUTS],
    run(input) {
      for (const value of objectsOf(input)) {
        const event = pure(value, () => enforceEvent(value));
        holdEqual(
          event,
          attempt(() => enforceEventCompactly(value)),
          "both checks agree on an event",
        );
        if (event.ok && event.value.event !== undefined) {
          const { event: kept } = event.value;
          hold(isEventType(kept.type), "an enforced event has a known type");
          const again = enforceEvent(kept as unknown as JsonObject);
          holdEqual(again, { event: kept, notes: [] }, "enforcing twice removes nothing more");
        }
        const request = pure(value, () => enforceInput(value));
        holdEqual(
          request,
          attempt(() => enforceInputCompactly(value)),
          "both agree on a request",
        );
        const said = pure(value, () => enforceCapabilities(value));
        if (said.ok) hold(said.value === value, "capabilities pass as they are");
      }
    },
  },
  {
    name: "dialects",
    property: "translation to AG-UI 1.0 never changes its input and never runs on after an error",
    covers: [
      "packages/wire/src/dialects/upgrade.ts#createUpgrader",
      "packages/wire/src/dialects/legacy/upgrade.ts#createLegacyUpgrader",
      "packages/wire/src/dialects/envelope/parse.ts#unwrapEnvelope",
      "packages/wire/src/dialects/envelope/parse.ts#unwrapPartialEnvelope",
      "packages/wire/src/dialects/envelope/translate.ts#openEnvelopeRun",
      "packages/wire/src/dialects/fields.ts#createFieldReader",
    ],
    dictionary: [
      ...EVENT_WORDS,
      '"event_type":"custom(\\"x\\")"',
      '"target":{"component_type":"t"}',
      '"classification":"mutating"',
      '"capability":',
      '"payload":{}',
    ],
    seeds: [
      ...EVENT_LINES,
      '{"event_id":"e","timestamp":1,"agent_id":"a","event_type":"render","target":{"component_type":"t"},"classification":"read_only","payload":{}}',
      '{"type":"tool_call","name":"x","arguments":"{}"}\n{"type":"tool_result","name":"x","result":"y"}\n{"type":"done"}',
      '{"type":"THINKING_START"}\n{"type":"THINKING_TEXT_MESSAGE_START"}\n{"type":"THINKING_END"}',
      '{"message":"hello","thread":1}',
    ],
    run(input) {
      const values = objectsOf(input);
      for (const dialect of ["auto", "1.0", "0.0", "0.1.0", "chio"] as const) {
        let minted = 0;
        const upgrader = createUpgrader({ dialect, mintId: (kind) => `${kind}-${minted++}` });
        let dead = false;
        for (const value of values) {
          const outcome = pure(value, () => upgrader.push(value));
          hold(!(dead && outcome.ok), "a translator that failed stays failed");
          dead ||= !outcome.ok;
          if (!outcome.ok) continue;
          hold(outcome.value.events.length <= 300, "translation is bounded");
        }
        if (dialect === "chio") continue;
        for (const value of values) {
          pure(value, () => upgradeInput(value, { dialect, mintId: (kind) => `${kind}-0` }));
        }
      }
      for (const value of values) {
        const partial = pure(value, () => unwrapPartialEnvelope(value));
        const whole = pure(value, () => unwrapEnvelope(value));
        hold(partial.ok || !whole.ok, "a whole envelope is a partial one too");
      }
    },
  },
  {
    name: "patch",
    property:
      "a JSON patch is applied whole or not at all, never touches a prototype, and reads pointers as RFC 6901 does",
    covers: [
      "packages/wire/src/reduce/json-patch.ts#parsePointer",
      "packages/wire/src/reduce/json-patch.ts#parseIndex",
    ],
    dictionary: [
      '"op":"add"',
      '"op":"move"',
      '"op":"copy"',
      '"op":"test"',
      '"op":"replace"',
      '"op":"remove"',
      '"from":"/a"',
      '"path":"/a/0"',
      "/-",
      "~0",
      "~1",
      "/__proto__/x",
      "/constructor/prototype/x",
    ],
    seeds: [
      '{"a":[1,2]}\n[{"op":"add","path":"/a/-","value":3},{"op":"move","from":"/a/0","path":"/b"}]',
      '{"a":{"b~/":1}}\n[{"op":"copy","from":"/a","path":"/c"},{"op":"test","path":"/a/b~0~1","value":1}]',
      '{}\n[{"op":"add","path":"/__proto__/x","value":1}]',
      '[1]\n[{"op":"remove","path":"/00"},{"op":"replace","path":"","value":{}}]',
    ],
    run(input) {
      const [first = "", ...rest] = textOf(input).split("\n");
      const document = attempt(() => parseJson(first, LIMITS));
      const patch = attempt(() => parseJson(rest.join("\n"), LIMITS));
      if (!document.ok || !patch.ok) return;
      // A patch reaches the state only as a STATE_DELTA that was enforced.
      const event = attempt(() => enforceEvent({ type: "STATE_DELTA", delta: patch.value }));
      if (!event.ok || event.value.event?.type !== "STATE_DELTA") return;
      const { delta } = event.value.event;
      const before = writeJson(document.value);
      const names = Reflect.ownKeys(Object.prototype).length;
      const result = attempt(() => applyJsonPatch(document.value, delta));
      hold(writeJson(document.value) === before, "the document stays as it was");
      hold(Reflect.ownKeys(Object.prototype).length === names, "no prototype is changed");
      hold(({} as { x?: unknown }).x === undefined, "no prototype is polluted");
      if (result.ok) writeJson((result.value as { document?: JsonValue }).document ?? null);
      const tokens = parsePointer(first);
      if (tokens === undefined) return;
      const written = tokens.map((one) => `/${one.replaceAll("~", "~0").replaceAll("/", "~1")}`);
      holdEqual(written.join(""), first, "a pointer has one reading");
    },
  },
];
