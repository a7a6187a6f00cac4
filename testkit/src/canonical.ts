import { createHash } from "node:crypto";

/** RFC 8785, written a second time so that tests need not trust the product's own. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) =>
    left < right ? -1 : Number(left > right),
  );
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join(",")}}`;
}

/** The hash by which a receipt names a payload. */
export function payloadHash(value: unknown): string {
  return createHash("sha256").update(canonicalText(value)).digest("hex");
}
