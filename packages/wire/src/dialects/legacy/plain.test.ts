import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryEvent, mutateJson } from "../../testing/arbitraries.js";
import { createNoteSink } from "../note.js";
import type { DialectNote } from "../note.js";
import { isPlainEvent } from "./plain.js";
import { createLegacyUpgrader } from "./upgrade.js";

test("an event that counts as plain is one that the full translation leaves alone", () => {
  const events = arbitraryEvent().chain((event) => mutateJson(event as unknown as JsonValue));
  const plain = events.filter(
    (event): event is JsonObject => isJsonObject(event) && isPlainEvent(event),
  );
  fc.assert(
    fc.property(plain, (event) => {
      const notes: DialectNote[] = [];
      const context = { eventNumber: 1, note: createNoteSink(notes, 1), lenient: true };
      expect(createLegacyUpgrader(() => "id")(event, context)).toBe(event);
      expect(notes).toEqual([]);
    }),
    { numRuns: 500 },
  );
});
