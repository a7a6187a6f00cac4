import { CountersignError } from "@countersign/core";
import { findSecretKey, IDENTITY_KEY, identityForms } from "@countersign/gateway";
import type { EntryFilter } from "@countersign/receipts/log";
import { Option } from "commander";
import type { Command } from "commander";
import "../errors.js";

/** Flags that choose entries. */
export type FilterFlags = {
  session?: string;
  agent?: string;
  run?: string;
  thread?: string;
  direction?: "inbound" | "outbound";
  eventType?: string;
  classification?: string;
  target?: string;
  rule?: string;
  principal?: string;
  clientAddress?: string;
  tool?: string;
  path?: string;
  find?: string;
  capability?: string;
  mode?: "enforce" | "observe";
  transport?: "sse" | "websocket";
  allowed?: boolean;
  blocked?: boolean;
  wouldBlock?: boolean;
  /** The earlier name of the flag. */
  noted?: boolean;
  since?: string;
  until?: string;
};

/** Adds the flags to a verb. */
export function addFilterFlags(command: Command): Command {
  return command
    .option("--session <id>", "only this session")
    .option("--agent <id>", "only this agent")
    .option("--run <id>", "only this run")
    .option("--thread <id>", "only this thread")
    .addOption(
      new Option(
        "--direction <way>",
        "only events from clients, or only events from agents",
      ).choices(["inbound", "outbound"]),
    )
    .option("--event-type <type>", "only this type, for example form_action or custom:NAME")
    .option("--classification <class>", "only this class, for example submit")
    .option("--target <type[:id]>", "only this component, for example modal:confirm-refund")
    .option("--principal <id>", "only this principal")
    .option("--client-address <address>", "only this client address")
    .option("--tool <name>", "only events about this tool")
    .option("--path <pointer>", "only decisions about this state or activity path")
    .option("--find <text>", "only entries with this text in a field or in the receipt id")
    .option("--rule <id>", "only decisions of this rule")
    .option("--capability <id>", "only decisions with this capability")
    .addOption(
      new Option("--mode <mode>", "only decisions in this mode").choices(["enforce", "observe"]),
    )
    .addOption(
      new Option("--transport <transport>", "only events over this transport").choices([
        "sse",
        "websocket",
      ]),
    )
    .addOption(new Option("--allowed", "only forwarded events").conflicts("blocked"))
    .option("--blocked", "only blocked events")
    .addOption(
      new Option(
        "--would-block",
        "only would-block events: forwarded in observe mode, blocked in enforce mode",
      ).conflicts(["allowed", "blocked"]),
    )
    .addOption(
      new Option("--noted", "the same as --would-block")
        .conflicts(["allowed", "blocked"])
        .hideHelp(),
    )
    .option("--since <time>", "start: an ISO time, or a time ago such as 15m, 2h, 7d")
    .option("--until <time>", "end: an ISO time, or a time ago such as 15m, 2h, 7d");
}

/**
 * The filter that the flags ask for. With the key directory of the gateway, a principal or an address is also found by
 * its keyed hash.
 */
export function filterOf(flags: FilterFlags, now: number, keyDirectory: string): EntryFilter {
  const formsOf = (text: string): readonly string[] =>
    identityForms(text, findSecretKey(keyDirectory, IDENTITY_KEY));
  const [, targetType, targetId] = /^([^:]*)(?::(.*))?$/s.exec(flags.target ?? "") ?? [];
  return {
    ...(flags.session === undefined ? {} : { session_id: flags.session }),
    ...(flags.agent === undefined ? {} : { agent_id: flags.agent }),
    ...(flags.run === undefined ? {} : { run_id: flags.run }),
    ...(flags.thread === undefined ? {} : { thread_id: flags.thread }),
    ...(flags.direction === undefined ? {} : { direction: flags.direction }),
    ...(flags.eventType === undefined ? {} : { event_type: flags.eventType }),
    ...(flags.classification === undefined ? {} : { classification: flags.classification }),
    ...(targetType === undefined || targetType === "" ? {} : { target_type: targetType }),
    ...(targetId === undefined ? {} : { target_id: targetId }),
    ...(flags.rule === undefined ? {} : { rule: flags.rule }),
    ...(flags.principal === undefined ? {} : { principal: formsOf(flags.principal) }),
    ...(flags.clientAddress === undefined ? {} : { client_address: formsOf(flags.clientAddress) }),
    ...(flags.tool === undefined ? {} : { tool: flags.tool }),
    ...(flags.path === undefined ? {} : { path: flags.path }),
    ...(flags.find === undefined ? {} : { q: flags.find }),
    ...(flags.capability === undefined ? {} : { capability_id: flags.capability }),
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(flags.transport === undefined ? {} : { transport: flags.transport }),
    ...(flags.allowed === true ? { allowed: true } : {}),
    ...(flags.blocked === true ? { allowed: false } : {}),
    ...(flags.wouldBlock === true || flags.noted === true ? { would_block: true } : {}),
    ...(flags.since === undefined ? {} : { since: readTime(flags.since, now) }),
    ...(flags.until === undefined ? {} : { until: readTime(flags.until, now) }),
  };
}

const UNITS: Readonly<Record<string, number>> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3 };

/** A span such as `2h`, in milliseconds. */
export function readSpan(text: string): number {
  const span = findSpan(text);
  if (span !== undefined && span > 0) return span;
  throw new CountersignError(
    "ERR_CLI_TIME",
    `"${text}" is not a time span. Fix: write 30s, 5m, 1h or 1d`,
    {
      text,
    },
  );
}

function findSpan(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const factor = unit === undefined ? undefined : UNITS[unit];
  return count === undefined || factor === undefined ? undefined : Number(count) * factor;
}

function readTime(text: string, now: number): number {
  const span = findSpan(text);
  const time = span === undefined ? Date.parse(text) : Math.max(0, now - span);
  if (Number.isNaN(time)) {
    throw new CountersignError(
      "ERR_CLI_TIME",
      `"${text}" is not a time. Fix: write 2026-11-15T12:00:00Z, or 15m, 2h, 7d for a time ago`,
      { text },
    );
  }
  return time;
}
