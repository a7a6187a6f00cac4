import { CountersignError } from "@countersign/core";

/** Units (steps, messages) that a translation remembers at one time. */
const MAX_OPEN_UNITS = 1024;

/** The error for a bound of this folder. */
export function overLimit(limit: string, allowed: number): CountersignError<"ERR_LIMIT_EXCEEDED"> {
  return new CountersignError("ERR_LIMIT_EXCEEDED", `${limit} allows ${allowed}`, {
    limit,
    allowed,
  });
}

/** Refuses to remember one unit more than the bound. */
export function assertRoomForUnit(open: { readonly size: number }): void {
  if (open.size >= MAX_OPEN_UNITS) throw overLimit("dialects.maxOpenUnits", MAX_OPEN_UNITS);
}
