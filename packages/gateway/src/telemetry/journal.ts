import { printableJson } from "@countersign/core";
import { pino } from "pino";
import type { Logger } from "pino";
import type { Journal } from "../base/journal.js";
import { createLogOutput } from "./log-output.js";
import type { LogDestination } from "./log-output.js";
import { formatForPeople } from "./pretty.js";
import { createRepeats } from "./repeats.js";

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
  /** Milliseconds since the epoch; for the limit of repeated lines. */
  readonly now?: () => number;
};

/** A journal, with the counts of lines it did not write. */
export type OpenJournal = Journal & {
  /** Repeated lines that were suppressed. */
  readonly suppressed: number;
  /** Lines that the output rejected. */
  readonly dropped: number;
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
  const destination = { write: (line: string): void => output.write(shown(line)) };
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
    flush: (milliseconds) => output.flush(milliseconds),
  };
}

function codeIn(facts: object): string {
  return "code" in facts ? String(facts.code) : "";
}
