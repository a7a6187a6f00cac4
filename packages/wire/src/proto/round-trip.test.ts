import { parseProtoStream } from "@ag-ui/client";
import { concatBytes } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { assert, property, sample } from "fast-check";
import { Subject } from "rxjs";
import { expect, test } from "vitest";
import type { AgUiEvent, EventType } from "../model/event.js";
import { enforceEvent } from "../enforce/index.js";
import { arbitraryEvent } from "../testing/arbitraries.js";
import { createProtoDecoder, encodeProto } from "./index.js";
import { envelopePlan } from "./plan.js";

const TYPES = [...envelopePlan().byType.keys()] as EventType[];

/** Lists whose absence and emptiness are the same bytes, and that are read as absent. */
const READ_AS_ABSENT = new Set(["usage", "toolCalls", "pendingToolCallIds", "interruptIds"]);
/** The same for lists of an echoed input, which are read as empty. */
const READ_AS_EMPTY = { tools: [], context: [], resume: [] };

function dropEmpty(object: Readonly<Record<string, unknown>>): JsonObject {
  const entries = Object.entries(object).filter(
    ([name, value]) => !(READ_AS_ABSENT.has(name) && Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(entries) as JsonObject;
}

/** The form of an event after encoding to protobuf and decoding. */
function afterJourney(event: AgUiEvent): JsonObject {
  const after = dropEmpty(event);
  if ("outcome" in event && event.outcome !== undefined)
    after["outcome"] = dropEmpty(event.outcome);
  if (event.type === "MESSAGES_SNAPSHOT") after["messages"] = event.messages.map(dropEmpty);
  if (event.type === "RUN_STARTED" && event.input !== undefined) {
    const messages = event.input.messages.map(dropEmpty);
    after["input"] = { ...READ_AS_EMPTY, ...dropEmpty(event.input), messages };
  }
  return after;
}

test.each(TYPES)("%s comes back whole, but for lists that were empty", (type) => {
  assert(
    property(arbitraryEvent(type), (event: AgUiEvent) => {
      const [read] = createProtoDecoder().push(encodeProto(event));
      expect(read).toStrictEqual(afterJourney(event));
    }),
    { numRuns: 40 },
  );
});

test("an event read from protobuf passes enforcement unchanged", () => {
  assert(
    property(arbitraryEvent(), (event) => {
      const [read] = createProtoDecoder().push(encodeProto(event));
      expect(enforceEvent(read as JsonObject)).toEqual({ event: read, notes: [] });
    }),
    { numRuns: 500 },
  );
});

test("the official client reads our stream as we do, cut into chunks of seven bytes", () => {
  const events = TYPES.flatMap((type) => sample(arbitraryEvent(type), { numRuns: 2, seed: 5 }));
  const stream = concatBytes(...events.map((event) => encodeProto(event)));
  const theirs: unknown[] = [];
  const source = new Subject<{ type: "data"; data: Uint8Array }>();
  parseProtoStream(source as never).subscribe((event) => theirs.push(event));
  for (let at = 0; at < stream.length; at += 7) {
    source.next({ type: "data", data: stream.slice(at, at + 7) });
  }
  source.complete();
  expect(createProtoDecoder().push(stream)).toStrictEqual(theirs);
});
