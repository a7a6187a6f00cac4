import { parseJson, printableText } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { styleText } from "node:util";

const COLOURS = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const;

/** Fields that have their own places in the line. */
const KNOWN: ReadonlySet<string> = new Set(["level", "time", "msg", "name"]);

/** Formats one JSON line of the log for a terminal: time, level, message, facts. */
export function formatForPeople(line: string): string {
  const record = readOwnLine(line);
  if (record === undefined) return `${printableText(line.trimEnd())}\n`;
  const { level, time, msg } = record as { level?: unknown; time?: unknown; msg?: unknown };
  const facts = Object.entries(record)
    .filter(([name]) => !KNOWN.has(name))
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
  const text = printableText(`${String(msg)}${facts === "" ? "" : ` ${facts}`}`);
  const word = String(level);
  const colour = Object.hasOwn(COLOURS, word) ? COLOURS[word as keyof typeof COLOURS] : "white";
  const shown = process.env["NO_COLOR"] === undefined ? styleText(colour, word) : word;
  return `${String(time).slice(11, 19)} ${shown} ${text}\n`;
}

/** Parses the line that pino has just written. */
function readOwnLine(line: string): JsonObject | undefined {
  try {
    return parseJson(line.trimEnd()) as JsonObject;
  } catch {
    return undefined;
  }
}
