import * as fc from "fast-check";
import { expect, test } from "vitest";
import { envelopeOf, httpMethodOf, OPENABLE_METHODS, pathOf } from "../../agent/runtime-calls.js";
import type { RuntimeCall } from "../../agent/runtime-calls.js";
import { readEnvelope, readPath } from "./read-call.js";
import type { ReadCall } from "./read-call.js";

const BASE = "http://runtime.example/api/copilotkit/";
const id = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const segment = fc.oneof(
  id,
  fc.constantFrom(
    "..",
    ".",
    "%2e%2e",
    "%2E.",
    "a\\..\\..\\b",
    "",
    "//",
    "a?b",
    "a#b",
    "\t",
    "info",
  ),
);
/** Paths of every shape that the runtime has, with names that a URL may read otherwise. */
const path = fc
  .tuple(
    fc.constantFrom(
      "agent/*/run",
      "agent/*/stop/*",
      "threads/*",
      "threads/*/state",
      "memories/*",
      "*",
    ),
    segment,
    segment,
  )
  .map(([shape, first, second]) => shape.replace("*", () => first).replace("*", () => second));
const method = fc.constantFrom("GET", "POST", "PATCH", "DELETE");

/** The call, if the gateway would serve it. */
const callOf = (read: ReadCall): RuntimeCall | undefined =>
  "call" in read ? read.call : undefined;

test("a call leads to its own path below the runtime's base, and is read there as itself", () => {
  fc.assert(
    fc.property(method, path, (httpMethod, text) => {
      const call = callOf(readPath(httpMethod, text, ""));
      if (call === undefined) return;
      const url = new URL(BASE);
      url.pathname += pathOf(call);
      expect(url.pathname.startsWith("/api/copilotkit/")).toBe(true);
      const below = url.pathname.slice("/api/copilotkit/".length);
      expect(callOf(readPath(httpMethodOf(call), below, ""))).toEqual(call);
    }),
  );
});

test("both forms of a call mean the same", () => {
  fc.assert(
    fc.property(
      id,
      id,
      fc.constantFrom("run", "connect", "suggest", "stop"),
      (agentId, threadId, name) => {
        const end = name === "stop" ? `/${encodeURIComponent(threadId)}` : "";
        const read = callOf(
          readPath("POST", `agent/${encodeURIComponent(agentId)}/${name}${end}`, ""),
        );
        if (read === undefined) return;
        const envelope = JSON.parse(envelopeOf(read, '{"a":1}')) as Parameters<
          typeof readEnvelope
        >[0];
        expect(readEnvelope(envelope)).toEqual({ call: read, body: { a: 1 } });
      },
    ),
  );
});

test("an envelope reads no call that its path would not", () => {
  fc.assert(
    fc.property(method, path, (httpMethod, text) => {
      const params = { path: `/${text}`, httpMethod };
      const read = callOf(readEnvelope({ method: "resource/request", params }));
      if (read === undefined) return;
      const [name = ""] = text.split("?");
      expect(read).toEqual(callOf(readPath(httpMethod, name, text.slice(name.length))));
    }),
  );
});

test("every route that a setting opens has a path, and no path has two meanings", () => {
  const paths = [
    "threads",
    "threads/clear",
    "threads/t",
    "threads/t/messages",
    "threads/t/events",
    "threads/t/state",
    "threads/t/archive",
    "memories",
    "memories/recall",
    "memories/m",
    "inspector-metadata",
    "inspector-learning",
    "transcribe",
    "annotate",
  ];
  const methods = ["GET", "POST", "PATCH", "DELETE"];
  const found = paths.flatMap((one) =>
    methods.flatMap((http) => callOf(readPath(http, one, "")) ?? []),
  );
  expect(new Set(found.map((call) => call.method))).toEqual(new Set(OPENABLE_METHODS));
});
