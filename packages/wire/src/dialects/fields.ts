import { CountersignError, isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { childPath } from "../enforce/note.js";
import type { NoteSink } from "./note.js";

/** Reads the members of one event whose every member but `type` is optional. */
export type FieldReader = {
  text(field: string): string | undefined;
  flag(field: string): boolean | undefined;
  number(field: string): number | undefined;
  object(field: string): JsonObject | undefined;
  /** Any JSON, null included. */
  any(field: string): JsonValue | undefined;
  /** Refuses the event for one member. */
  refuse(field: string, expected: string): never;
  /** Notes every member that was neither read nor named here. */
  noteRest(): void;
};

/** A reader over `event`; null in a typed member is what a producer without a value writes. */
export function createFieldReader(
  event: JsonObject,
  type: string,
  eventNumber: number,
  note: NoteSink,
): FieldReader {
  const seen = new Set(["type"]);
  const refuse = (field: string, expected: string): never => {
    throw new CountersignError(
      "ERR_DIALECT_FIELD",
      `event ${eventNumber} (${type}): ${field} must be ${expected}`,
      { event: eventNumber, type, field, expected },
    );
  };
  const take = (field: string): JsonValue | undefined => {
    seen.add(field);
    const value = ownMember(event, field);
    if (value !== null) return value;
    note("null-absent", `/${field}`);
    return undefined;
  };
  return {
    text(field) {
      const value = take(field);
      return value === undefined || typeof value === "string" ? value : refuse(field, "a string");
    },
    flag(field) {
      const value = take(field);
      return value === undefined || typeof value === "boolean" ? value : refuse(field, "a boolean");
    },
    number(field) {
      const value = take(field);
      return value === undefined || typeof value === "number" ? value : refuse(field, "a number");
    },
    object(field) {
      const value = take(field);
      return value === undefined || isJsonObject(value) ? value : refuse(field, "an object");
    },
    any(field) {
      seen.add(field);
      return ownMember(event, field);
    },
    refuse,
    noteRest() {
      for (const key of Object.keys(event)) {
        if (!seen.has(key)) note("field-dropped", childPath("", key));
      }
    },
  };
}
