import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { isCountersignError, printableText } from "@countersign/core";
import { CommanderError } from "commander";
import pc from "picocolors";
import { asTyped } from "./command-name.js";
import { printJsonLine } from "./print.js";

/** Exit codes every verb shares: 0 done, 1 a negative answer, 2 could not answer. */
export const EXIT = { ok: 0, negative: 1, failed: 2 } as const;

/** Prints what went wrong, with its code and the next step; returns the exit code. */
export function reportFailure(error: unknown, json: boolean): number {
  if (error instanceof CommanderError) {
    // Commander has already printed its own message for people (help, version, a wrong option).
    if (error.exitCode === 0) return EXIT.ok;
    if (json) printJsonLine({ error: describeUsage(error) });
    return EXIT.failed;
  }
  if (json) {
    printJsonLine({ error: describeFailure(error) });
    return EXIT.failed;
  }
  const { code, message: text } = describeFailure(error);
  // Names in it may come from a file or a peer.
  const message = asTyped(text).split("\n").map(printableText).join("\n");
  process.stderr.write(`${pc.red("error")} ${message}${code === undefined ? "" : ` (${code})`}\n`);
  return EXIT.failed;
}

function describeUsage({ code, message }: CommanderError): { code: string; message: string } {
  // Commander's stand-in where it shows the help because a verb is missing.
  const isHelp = code === "commander.help";
  return {
    code,
    message: isHelp
      ? "a command is missing; the help lists the commands"
      : message.replace(/^error: /, ""),
  };
}

/** The next step, for codes whose message cannot name it. */
const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    "ERR_STORE_LOCKED",
    "a gateway uses this store. Fix: stop the gateway, or name another store with receipts.store or --store",
  ],
]);

/** Failures of the system in words, with the next step; the path or address stands before them. */
const SYSTEM_FAILURES: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "does not exist"],
  ["EACCES", "cannot be read or written by this user. Fix: change its owner or its mode"],
  ["EPERM", "cannot be read or written by this user. Fix: change its owner or its mode"],
  ["EISDIR", "is a folder, not a file"],
  ["EROFS", "is on a read-only file system"],
  ["EEXIST", "exists already and is not of the expected kind"],
  ["ENOTDIR", "is not in a directory"],
  ["EADDRINUSE", "is in use. Fix: stop the other process, or choose another port"],
  [
    "EADDRNOTAVAIL",
    "is not an address of this machine. Fix: use 127.0.0.1, or an address of one of its interfaces",
  ],
]);

/** Reasons why a database is unreachable. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);

/** An error in words and, where it has one, with its code. */
export function describeFailure(error: unknown): { code?: string; message: string } {
  if (isCountersignError(error)) {
    const next =
      isCountersignError(error, "ERR_STORE_READ") && UNREACHABLE.has(error.facts.cause)
        ? "the database of receipts.store cannot be reached. Fix: start it, or correct the address"
        : NEXT_STEPS.get(error.code);
    return {
      code: error.code,
      message: next === undefined ? error.message : `${error.message}; ${next}`,
    };
  }
  const system = describeSystem(error);
  if (system !== undefined) return system;
  if (error instanceof Error) {
    const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
    return code === undefined ? { message: error.message } : { code, message: error.message };
  }
  return { message: String(error) };
}

function describeSystem(error: unknown): { code: string; message: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path, address, port } = error as Error & {
    code?: string;
    path?: string;
    address?: string;
    port?: number;
  };
  const isPort = code === "EACCES" && path === undefined;
  const words = isPort
    ? "cannot be used by this user. Fix: choose a port above 1023"
    : SYSTEM_FAILURES.get(code ?? "");
  const what = path ?? (address === undefined ? undefined : `${address}:${String(port)}`);
  if (code === undefined || words === undefined || what === undefined) return undefined;
  if (code === "ENOENT" && path !== undefined && !existsSync(dirname(path))) {
    return { code, message: `${path}: the folder ${dirname(path)} does not exist` };
  }
  return { code, message: `${what} ${words}` };
}
