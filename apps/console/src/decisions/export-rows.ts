import type { Decision } from "./decision.js";
import { FIELDS } from "./filter.js";

const COLUMNS = ["seq", "received_at", "verdict", ...FIELDS.map(({ name }) => name)] as const;

/** Decisions as CSV (RFC 4180), with the names of the API as the header. */
export function csvOf(decisions: readonly Decision[]): string {
  const lines = decisions.map((decision) =>
    COLUMNS.map((name) =>
      cellOf(
        name === "received_at"
          ? new Date(decision.received_at).toISOString()
          : String(decision[name]),
      ),
    ).join(","),
  );
  return [COLUMNS.join(","), ...lines, ""].join("\r\n");
}

/**
 * A cell is always quoted. Agents choose names, and a spreadsheet executes a cell that begins with one of these
 * characters; the apostrophe makes it text (OWASP, CSV injection).
 */
function cellOf(value: string): string {
  const text = /^\s*[=+\-@|%]|^[\t\r\n]/u.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

/** Decisions as the API sent them, one JSON document per line. */
export function jsonLinesOf(decisions: readonly Decision[]): string {
  return decisions.map(({ source }) => `${JSON.stringify(source)}\n`).join("");
}

/** Hands a file to the browser. */
export function download(name: string, type: string, ...parts: BlobPart[]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
