import type { JsonObject } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import * as fc from "fast-check";
import { classifyEnvelope } from "../classify/envelope.js";
import { classifyEvent } from "../classify/event.js";
import type { EventFacts } from "../classify/facts.js";
import { classifyInput } from "../classify/input.js";
import type { Refinements } from "../classify/refinement.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import { UI_EVENT_TYPES } from "../vocabulary/event-type.js";
import { capability } from "./arbitrary.js";

const text = fc.constantFrom;
const classification = text(...CLASSIFICATIONS);
/** Names that the policies of `policies.ts` use. */
const name = text("foo", "fob", "del", "constructor");
const target = fc.record(
  {
    component_type: text("modal", "toast", "interrupt", "chat-window"),
    component_id: text("x", "xy", "main"),
  },
  { requiredKeys: ["component_type"] },
);
/** An event or a request, before a policy classifies it. */
export type Happening = {
  readonly facts: (refinements: Refinements) => EventFacts;
  readonly event: JsonObject;
};
const piece = text(
  "ab",
  "c ",
  "![i](",
  "https://a.example/x",
  "http://b.example",
  "https://u@a.example/",
  "javascript:1",
  "data:x",
  ")",
  "[l](",
  "<img src=",
  "<b>",
  "<!--",
  "-->",
  "`",
  "```\n",
  "\n",
  "&#106;",
  "\u200b",
  "//a.example",
  '"',
  ">",
  "\\",
  "<a href=",
  " ",
  "<script>",
);
const words = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(""));
const state = text({ a: { b: 1 } }, { a: 1 }, { c: 1 }, { a: { b: 1 }, c: 2 }, { d: 1 });
const native = fc.oneof(
  words.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta })),
  words.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta })),
  fc.tuple(name, words).map(([name, value]) => ({ type: "CUSTOM", name, value })),
  name.map((toolCallName) => ({ type: "TOOL_CALL_START", toolCallId: "t", toolCallName })),
  text({ type: "TOOL_CALL_ARGS", toolCallId: "t", delta: "{}" }),
  state.map((snapshot) => ({ type: "STATE_SNAPSHOT", snapshot })),
  text("/a", "/a/b", "/c", "/d").map((path) => ({
    type: "STATE_DELTA",
    delta: [{ op: "replace", path, value: 1 }],
  })),
  text("modal", "toast", "foo").map((activityType) => ({
    type: "ACTIVITY_SNAPSHOT",
    messageId: "m",
    activityType,
    content: {},
  })),
  name.map((source) => ({ type: "RAW", source, event: {} })),
  name.map((reason) => ({
    type: "RUN_FINISHED",
    threadId: "t",
    runId: "r",
    outcome: { type: "interrupt", interrupts: [{ id: "i", reason }] },
  })),
);
const claim = fc.record({ classification, target }, { requiredKeys: [] });
const outbound = fc
  .tuple(native, fc.option(claim, { nil: undefined }), fc.boolean())
  .map(([event, claim, own]): Happening => ({
    event: event as unknown as JsonObject,
    facts: (refinements) =>
      classifyEvent(event as unknown as AgUiEvent, {
        refinements,
        clientTools: new Set(own ? ["del"] : ["foo", "del"]),
        toolNames: new Map([["t", "foo"]]),
        ...(claim === undefined ? {} : { claim }),
      }),
  }));
const envelope = fc
  .tuple(
    fc.record(
      {
        event_type: fc.oneof(
          text(...UI_EVENT_TYPES),
          name.map((custom) => ({ custom })),
        ),
        classification,
        target,
      },
      { requiredKeys: ["event_type"] },
    ),
    text("inbound" as const, "outbound" as const),
  )
  .map(([event, direction]): Happening => ({
    event: event as unknown as JsonObject,
    facts: (refinements) =>
      classifyEnvelope(event as unknown as JsonObject, direction, refinements),
  }));
const request = fc
  .record({
    messages: text(
      [],
      [{ id: "1", role: "user", content: "ab" }],
      [{ id: "1", role: "tool", toolCallId: "t", content: "x" }],
    ),
    state: fc.oneof(text({}), state),
    forwardedProps: text({}, {}, { foo: 1 }, { del: 1, foo: 2 }),
    context: text([], [{ description: "d", value: "v" }]),
    tools: text([], [{ name: "foo", description: "", parameters: {} }]),
    resume: text([], [{ interruptId: "i", status: "resolved" }]),
  })
  .map((input): Happening => {
    const whole = { threadId: "t", runId: "r", ...input };
    return {
      event: whole as unknown as JsonObject,
      facts: (refinements) => classifyInput(whole as unknown as RunAgentInput, { refinements }),
    };
  });
/**
 * An event with its context: transport, rate, use of caps, token, violations of order, denied
 * calls.
 */
export const moment = fc.tuple(
  fc.oneof(outbound, envelope, request),
  text("sse" as const, "websocket" as const),
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 1, max: 7 }),
  fc.oneof(
    text({ id: "cap", status: "valid" as const, scopes: ["ui:*:*"] }),
    text(undefined),
    capability,
  ),
  text(
    undefined,
    undefined,
    undefined,
    undefined,
    [{ rule: "run/first-event", severity: "error" as const }],
    [{ rule: "subagent/outcome", severity: "error" as const }],
  ),
  text(undefined, undefined, 1, 2, 3, 4),
);
