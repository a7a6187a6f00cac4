import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createSseDecoder } from "./decode.js";
import { arbitraryEvent } from "../testing/arbitraries.js";
import { encodeSse, encodeSseComment, encodeSseEvent } from "./encode.js";
import { classifySseData } from "./message.js";

const utf8 = new TextEncoder();

test("a frame is LF only, with the fields asked for", () => {
  expect(encodeSse('{"a":1}')).toBe('data: {"a":1}\n\n');
  expect(encodeSse("a\nb", { id: "7", event: "e" })).toBe("event: e\nid: 7\ndata: a\ndata: b\n\n");
  expect(encodeSseComment()).toBe(":\n\n");
  expect(encodeSseComment("keepalive")).toBe(": keepalive\n\n");
});

test("no field can break out of its line", () => {
  for (const bad of ["a\nb", "a\rb", "\n"]) {
    const refused = expect.objectContaining({ code: "ERR_SSE_FIELD" });
    expect(() => encodeSse("x", { id: bad })).toThrow(refused);
    expect(() => encodeSse("x", { event: bad })).toThrow(refused);
    expect(() => encodeSseComment(bad)).toThrow(refused);
  }
  expect(() => encodeSse("a\rb")).toThrow(expect.objectContaining({ facts: { field: "data" } }));
  expect(() => encodeSse("a", { id: "\0" })).toThrow(
    expect.objectContaining({ facts: { field: "id" } }),
  );
});

test("what is encoded decodes to the same message", () => {
  const text = fc.string({ unit: "grapheme" }).map((value) => value.replaceAll("\r", ""));
  const field = text.map((value) => value.replaceAll(/[\n\0]/g, ""));
  fc.assert(
    fc.property(text, field, field, (data, id, event) => {
      const decoder = createSseDecoder({ unterminated: "refuse" });
      const frames = encodeSse(data, { id, event }) + encodeSseComment("x") + encodeSse(data);
      const named = event === "" ? { data, id } : { data, id, event };
      expect(decoder.push(utf8.encode(frames))).toEqual([named, { data }]);
      expect(decoder.end()).toEqual([]);
    }),
  );
});

test.each([
  ["", "empty"],
  [" \n", "empty"],
  [" ".repeat(80), "empty"],
  ["[DONE]", "done"],
  [" [DONE]\n", "done"],
  ["{}", "ping"],
  [" { }\n", "ping"],
  ['{"type":"RUN_STARTED"}', "event"],
  ["[]", "event"],
  ["[done]", "event"],
])("data %j is classified as %s", (data, kind) => {
  expect(classifySseData(data)).toBe(kind);
});

test("an event is framed as its JSON text is", () => {
  const arbitrary = fc.property(arbitraryEvent(), (event) => {
    expect(encodeSseEvent(event)).toBe(encodeSse(JSON.stringify(event)));
    expect(encodeSseEvent(event, { id: "7" })).toBe(encodeSse(JSON.stringify(event), { id: "7" }));
  });
  expect(() => fc.assert(arbitrary, { numRuns: 500 })).not.toThrow();
  expect(() => encodeSseEvent({ type: "RUN_ERROR", message: "" }, { id: "a\nb" })).toThrow(
    expect.objectContaining({ code: "ERR_SSE_FIELD" }),
  );
});
