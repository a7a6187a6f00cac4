import { EventType as OfficialEventType } from "@ag-ui/core";
import { expect, test } from "vitest";
import { EVENT_TABLE, EVENT_TYPES, isEventType } from "./table.js";

test("the table holds exactly the official event types", () => {
  expect([...EVENT_TYPES].sort()).toEqual(Object.values(OfficialEventType).sort());
});

test("a name inherited from Object.prototype is not an event type", () => {
  for (const name of ["toString", "constructor", "__proto__", ""]) {
    expect(isEventType(name)).toBe(false);
  }
});

test("an id field is a described field of its event", () => {
  const undescribed = EVENT_TYPES.filter((type) => {
    const { idField, fields } = EVENT_TABLE[type];
    return idField !== undefined && !Object.hasOwn(fields, idField);
  });
  expect(undescribed).toEqual([]);
});

test("only events that fold into history carry metadata there", () => {
  const folding = EVENT_TYPES.filter((type) => EVENT_TABLE[type].metadataTarget !== "nothing");
  expect(folding.every((type) => /^(TEXT|TOOL|REASONING_MESSAGE|ACTIVITY)_/.test(type))).toBe(true);
  expect(folding).toHaveLength(15);
});
