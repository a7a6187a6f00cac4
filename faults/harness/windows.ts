import type { AuditedEntry } from "@countersign/testkit";

/** When an event was decided about, by the id that its receipt was given right then. */
export function decidedAt({ receipt }: AuditedEntry): number {
  const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const [, id = ""] = String(receipt["event_id"]).split("_");
  const time = id.slice(0, 10).split("");
  return time.reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
}

/** The most that any window of so many milliseconds has. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  sorted.forEach((time, index) => {
    while (time - (sorted[first] ?? time) >= windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}
