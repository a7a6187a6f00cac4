import { printableJson } from "@countersign/core";
import { pino } from "pino";
import type { Logger } from "pino";
import type { Journal } from "../base/journal.js";
import { createLogOutput } from "./log-output.js";
import type { LogDestination } from "./log-output.js";
import { formatForPeople } from "./pretty.js";
import { createRepeats } from "./repeats.js";

/** Levels of the log, from the most talkative on. */
export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** How much is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `json` always writes JSON lines; `auto` writes lines for people when the output is a terminal. */
export type LogFormat = "json" | "auto";

/** Options of {@link createJournal}. */
export type JournalOptions = {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  /** Standard output when left out. */
  readonly destination?: LogDestination;
  /** Milliseconds since the epoch; bounds what is repeated. */
  readonly now?: () => number;
};

/** A journal, and what it kept back. */
export type OpenJournal = Journal & {
  /** Lines that were not written because the same had been said often enough. */
  readonly suppressed: number;
  /** Lines that the output did not take. */
  readonly dropped: number;
  /** Whether every line is written; waits for the output no longer than this. */
  flush(milliseconds: number): Promise<boolean>;
};

/**
 * Fields that may never be written, whoever passes them by mistake. Callers pass ids, codes and counts
 * only; this is the second lock on that door.
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

/** The log of a gateway: pino, with secrets taken out and repetitions bounded. */
export function createJournal(options: JournalOptions = {}): OpenJournal {
  const { level = "info", format = "auto", now = Date.now } = options;
  const target = options.destination ?? process.stdout;
  const output = createLogOutput(target);
  // Ids and names in a line come from clients and agents, and whoever reads the log may read it on a terminal.
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
