import { printableJson, parseJson, printableText } from "@countersign/core";
import { pino } from "pino";
import type { Logger } from "pino";
import type { Journal } from "../base/ports.js";
import { createLogExporter } from "./log-exporter.js";
import type { OtlpLogs } from "./log-exporter.js";
import { createLogOutput } from "./log-output.js";
import type { LogDestination } from "./log-output.js";
import { createRepeats } from "./repeats.js";
import type { JsonObject } from "@countersign/core";
import { styleText } from "node:util";

/** Levels of the log, the most verbose first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** A level of the log. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `json` always writes JSON lines; `auto` writes readable lines when the output is a terminal. */
export type LogFormat = "json" | "auto";

/** Options of {@link createJournal}. */
export type JournalOptions = {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  /** Standard output by default. */
  readonly destination?: LogDestination;
  /** The collector that gets every line, too. */
  readonly otlp?: OtlpLogs | undefined;
  /** Milliseconds since the epoch; for the limit of repeated lines. */
  readonly now?: () => number;
};

/** A journal, with the counts of lines it did not write. */
export type OpenJournal = Journal & {
  /** Repeated lines that were suppressed. */
  readonly suppressed: number;
  /** Lines that the output rejected. */
  readonly dropped: number;
  /** Lines for the collector: those that it has, and those that were lost. */
  readonly exportedLines: number;
  readonly lostLines: number;
  /** Sends the last lines to the collector; later lines go to the output only. */
  stopExport(): Promise<void>;
  /** Waits at most this long for the output; resolves with true when every line is written. */
  flush(milliseconds: number): Promise<boolean>;
};

/**
 * Fields that are never written, even when a caller passes them by mistake. Callers pass ids, codes
 * and counts only; this is a second safeguard.
 */
const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "token",
  "tokens",
  "password",
  "secret",
  "key",
  "headers",
  "query",
  "url",
  "body",
  "payload",
  "input",
  "messages",
  "event",
  "value",
];

/** The log of a gateway: pino, with secrets removed and repeated lines limited. */
export function createJournal(options: JournalOptions = {}): OpenJournal {
  const { level = "info", format = "auto", now = Date.now } = options;
  const target = options.destination ?? process.stdout;
  const output = createLogOutput(target);
  // Ids and names in a line come from clients and agents, and an operator may read the log on a
  // terminal.
  const shown = format === "auto" && target.isTTY === true ? formatForPeople : printableJson;
  const collector =
    options.otlp &&
    createLogExporter(options.otlp, (reason, records) =>
      write("warn")(
        { code: "LOGS_DROPPED", reason, records },
        "the collector did not accept log lines",
      ),
    );
  const destination = {
    write: (line: string): void => {
      output.write(shown(line));
      collector?.add(line);
    },
  };
  const logger: Logger = pino(
    {
      level,
      base: { name: "countersign" },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]),
        censor: "[redacted]",
      },
    },
    destination,
  );
  const repeats = createRepeats();
  const write =
    (severity: "debug" | "info" | "warn" | "error") =>
    (facts: object, message: string): void => {
      if (!logger.isLevelEnabled(severity)) return;
      const skipped =
        severity === "info" ? 0 : repeats.admit(`${message}\n${codeIn(facts)}`, now());
      if (skipped === undefined) return;
      logger[severity](skipped === 0 ? facts : { ...facts, suppressed: skipped }, message);
    };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    get suppressed() {
      return repeats.suppressed;
    },
    get dropped() {
      return output.dropped;
    },
    get exportedLines() {
      return collector?.exported ?? 0;
    },
    get lostLines() {
      return collector?.dropped ?? 0;
    },
    stopExport: async () => collector?.close(),
    flush: (milliseconds) => output.flush(milliseconds),
  };
}

function codeIn(facts: object): string {
  return "code" in facts ? String(facts.code) : "";
}

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
