import type { Policy } from "../api/responses.js";

/** A block of a policy in words. */
export type PolicyBlock = {
  readonly name: string;
  /** `off`, or whether it decides or only notes. */
  readonly mode: string;
  readonly settings: readonly (readonly [name: string, value: string])[];
};

/** Settings with a column of their own. */
const COLUMNS = new Set(["enabled", "mode"]);

/** The blocks under `rules`, each with the mode that counts for it. */
export function policyBlocks({ document, mode }: Pick<Policy, "document" | "mode">): PolicyBlock[] {
  return Object.entries(document.rules ?? {}).map(([name, value]) => {
    const block = settingsOf(value);
    const own = block.find(([key]) => key === "mode")?.[1];
    const isOff = block.some(([key, setting]) => key === "enabled" && setting === false);
    return {
      name,
      mode: isOff ? "off" : typeof own === "string" ? own : mode,
      settings: block
        .filter(([key]) => !COLUMNS.has(key))
        .map(([key, setting]) => [key, formatValue(setting)] as const),
    };
  });
}

function settingsOf(value: unknown): (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.map((item, at) => [String(at + 1), item] as const);
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

/** Lists and flat objects with commas, the rest as JSON. */
function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    if (value.every((item) => typeof item !== "object")) return value.join(", ");
  } else if (typeof value === "object" && value !== null) {
    const members = Object.entries(value);
    const isFlat = members.every(([, member]) => typeof member !== "object");
    if (isFlat) return members.map(([name, member]) => `${name} ${String(member)}`).join(", ");
  }
  return JSON.stringify(value);
}
