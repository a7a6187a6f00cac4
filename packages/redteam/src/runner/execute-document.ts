import { CountersignError, isJsonObject, parseUrl } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { extractProtocol, parseDuration } from "../oatf/index.js";
import type { NormalizedActor, NormalizedDocument, TraceEntry } from "../oatf/index.js";
import type { ActorContext, RunnerNote } from "./actor-context.js";
import type { Channel, ChannelOptions, Refusal } from "./channel.js";
import { attacksByForm } from "./form.js";
import { keepsIds } from "./fresh-ids.js";
import type { Gap } from "./gap.js";
import { createHttpChannel } from "./http-channel.js";
import { isServer } from "./mode.js";
import type { ModeFactory } from "./mode.js";
import { findMode } from "./modes.js";
import { DEFAULT_RUNNER_LIMITS, DEFAULT_TIMEOUTS, transportOf } from "./options.js";
import type { RunnerOptions, ServerAddresses, TransportKind } from "./options.js";
import { createActor } from "./phase-engine.js";
import type { ActorReport, RunningActor } from "./phase-engine.js";
import { receiptOfEvent, refusalReasonOfEvent } from "./refusal.js";
import { superviseActors } from "./supervise.js";
import { createTraceRecorder, WIRE } from "./trace-recorder.js";
import { createVariables } from "./variables.js";
import { createWebSocketChannel } from "./websocket-channel.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** No actor of the document has a mode that this runner performs. */
    ERR_REDTEAM_MODE: { modes: readonly string[] };
    /** The target could not be reached, or the connection broke. */
    ERR_REDTEAM_CONNECTION: { cause: string };
    /** The target took longer than one of the limits on time. */
    ERR_REDTEAM_TIMEOUT: { limit: string; milliseconds: number };
    /** The target sent more than the runner keeps, or frames it cannot read. */
    ERR_REDTEAM_STREAM: { reason: "trace" | "malformed" | "frame" };
    /** The run was stopped by its caller. */
    ERR_REDTEAM_STOPPED: Record<never, never>;
  }
}

const MOST_NOTES = 100;

/** The events of executing a document, before evaluation. */
export type ExecutionResult = {
  readonly trace: readonly TraceEntry[];
  /** The trace reached a bound and is not whole. */
  readonly truncated: boolean;
  readonly actors: readonly ActorReport[];
  /** The protocols of the actors that were performed. */
  readonly protocols: ReadonlySet<string>;
  readonly notes: readonly RunnerNote[];
  readonly refusals: readonly Refusal[];
  /** Failures: broken connections, time-outs, unreadable streams. */
  readonly failures: readonly { readonly code: string; readonly message: string }[];
  /** The steps of the document that did not happen, including failures and skipped actors. */
  readonly gaps: readonly Gap[];
  /** Receipts that a gateway named in refusals, errors and notices. */
  readonly receipts: readonly string[];
  /** Rules and codes that refusals named. */
  readonly objections: readonly string[];
  readonly transport: TransportKind;
  readonly startedAt: string;
  readonly milliseconds: number;
};

/**
 * Performs a document against a target. Never throws on the target's behaviour; actors that cannot be performed are
 * skipped by name.
 *
 * @throws CountersignError ERR_REDTEAM_MODE when no actor that is performed starts a conversation with the agent
 * @throws TypeError when the target is not a URL
 */
export async function executeDocument(
  document: NormalizedDocument,
  options: RunnerOptions,
): Promise<ExecutionResult> {
  const { actors } = document.attack.execution;
  const { performed, skipped } = await castOf(actors, options);
  if (!performed.some(({ actor }) => !isServer(actor.mode))) throw modeError(actors, skipped);
  if (parseUrl(options.target) === undefined) throw new TypeError("the target is no address");
  const limits = { ...DEFAULT_RUNNER_LIMITS, ...options.limits };
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const recorder = createTraceRecorder(limits);
  const told = createNotebook();
  const started = performance.now();
  const startedAt = new Date().toISOString();
  const variables = createVariables();
  const headers = options.headers ?? {};
  const settings = { target: options.target, timeouts, limits, headers };
  const addresses: ServerAddresses = { mcp: {}, a2a: {} };
  const shared: Omit<ActorContext, "variables" | "channel"> = {
    ...told,
    recorder,
    limits,
    timeouts,
    headers,
    addresses,
    addressesIn: options.servers?.forwardedProps,
    endpoints: options.endpoints ?? {},
    watched: new Set((document.attack.indicators ?? []).map(({ protocol }) => protocol)),
    nextPort: portsOf(options),
    strict: options.strict === true,
    refusalsCount: options.refusalsCount === true,
    idsAsWritten: keepsIds(document),
    formIsAttack: attacksByForm(document.attack.execution),
    threads: new Set(),
  };
  // None begins before all of them are made.
  const made = performed.map(({ actor, create }) => {
    const channel = channelFor(settings, options);
    const context = { ...shared, variables: variables(actor.name), channel };
    return { mode: actor.mode, running: createActor(actor, context, create) };
  });
  const servers = made.filter(({ mode }) => isServer(mode)).map(({ running }) => running);
  const clients = made.filter(({ mode }) => !isServer(mode)).map(({ running }) => running);
  await openServers(servers, addresses, options, told.missed);
  for (const actor of [...servers, ...clients]) actor.begin();
  const reports = await superviseActors(clients, servers, {
    deadline: timeouts.document,
    grace: graceOf(document, options),
    signal: options.signal,
    failed: told.failed,
  });
  if (servers.length > 0) await announce({ mcp: {}, a2a: {} }, options, told.missed);
  const { notes, refusals, failures, gaps } = told;
  for (const { actor, problem } of skipped) {
    const message = `actor ${actor.name} was skipped: ${problem}`;
    notes.push({ code: "W-002", message });
    told.missed({ kind: "unsupported", message });
  }
  if (recorder.truncated) {
    told.missed({ kind: "error", message: "the trace reached a bound and is not whole" });
  }
  return {
    trace: recorder.entries,
    truncated: recorder.truncated,
    actors: [...reports, ...skipped.map(({ actor }) => skippedReport(actor))],
    protocols: new Set(performed.map(({ actor }) => extractProtocol(actor.mode) ?? "")),
    notes,
    refusals,
    failures,
    gaps,
    receipts: receiptsOf(recorder.entries, refusals),
    objections: objectionsOf(recorder.entries, refusals),
    transport: transportOf(options),
    startedAt,
    milliseconds: Math.round(performance.now() - started),
  };
}

type Performed = { readonly actor: NormalizedActor; readonly create: ModeFactory };
type Skipped = { readonly actor: NormalizedActor; readonly problem: string };

/** The actors that are performed, and those that are not. */
async function castOf(
  actors: readonly NormalizedActor[],
  options: RunnerOptions,
): Promise<{ readonly performed: Performed[]; readonly skipped: Skipped[] }> {
  const performed: Performed[] = [];
  const skipped: Skipped[] = [];
  for (const actor of actors) {
    const found = await findMode(actor.mode, options);
    if ("create" in found) performed.push({ actor, create: found.create });
    else skipped.push({ actor, problem: found.problem });
  }
  return { performed, skipped };
}

/** All servers listen, and the agent knows where, before the first client starts. */
async function openServers(
  servers: readonly RunningActor[],
  addresses: ServerAddresses,
  options: RunnerOptions,
  missed: (gap: Gap) => void,
): Promise<void> {
  if (servers.length === 0) return;
  for (const server of servers) await server.listen();
  await announce(addresses, options, missed);
}

async function announce(
  addresses: ServerAddresses,
  { servers }: RunnerOptions,
  missed: (gap: Gap) => void,
): Promise<void> {
  try {
    await servers?.announce?.(addresses);
  } catch {
    missed({ kind: "error", message: "the agent could not be told where the servers are" });
  }
}

function portsOf({ servers }: RunnerOptions): (protocol: "mcp" | "a2a") => number {
  const next = { mcp: servers?.ports?.mcp ?? 0, a2a: servers?.ports?.a2a ?? 0 };
  return (protocol) => {
    const port = next[protocol];
    if (port !== 0) next[protocol] += 1;
    return port;
  };
}

/** The callbacks of actors, next to the trace. */
function createNotebook() {
  const notes: RunnerNote[] = [];
  const refusals: Refusal[] = [];
  const failures: { code: string; message: string }[] = [];
  const gaps: Gap[] = [];
  const missed = (gap: Gap): void => {
    const isKnown = gaps.some(({ message }) => message === gap.message);
    if (!isKnown && gaps.length < MOST_NOTES) gaps.push(gap);
  };
  return {
    notes,
    refusals,
    failures,
    gaps,
    missed,
    note(note: RunnerNote): void {
      if (notes.length < MOST_NOTES) notes.push(note);
    },
    failed({ code, message }: CountersignError, place?: string): void {
      failures.push({ code, message });
      const where = place === undefined ? "" : `${place}: `;
      missed({ kind: "error", message: `${where}${message} (${code})` });
    },
    refused(refusal: Refusal): void {
      refusals.push(refusal);
    },
  };
}

function channelFor(settings: ChannelOptions, options: RunnerOptions): Channel {
  const kind = transportOf(options);
  if (kind === "websocket") return createWebSocketChannel(settings);
  return createHttpChannel(settings, kind === "get" ? "GET" : "POST");
}

function modeError(
  actors: readonly NormalizedActor[],
  skipped: readonly Skipped[],
): CountersignError {
  const modes = [...new Set(actors.map(({ mode }) => mode))];
  const reasons = new Set(skipped.map(({ problem }) => problem));
  return new CountersignError(
    "ERR_REDTEAM_MODE",
    `no actor starts a conversation with the agent: ${[...reasons, ...modes].join(", ")}. A server waits for requests; add an ag_ui_client, mcp_client or a2a_client`,
    { modes },
  );
}

function skippedReport({ name, mode, phases }: NormalizedActor): ActorReport {
  return { name, mode, status: "skipped", phases: { entered: 0, total: phases.length }, runs: 0 };
}

function graceOf(document: NormalizedDocument, options: RunnerOptions): number {
  const { grace_period } = document.attack;
  return grace_period === undefined
    ? (options.gracePeriod ?? 0)
    : parseDuration(grace_period) * 1000;
}

function receiptsOf(trace: readonly TraceEntry[], refusals: readonly Refusal[]): string[] {
  return namesIn(
    trace,
    refusals.map(({ receipt }) => receipt),
    receiptOfEvent,
  );
}

function objectionsOf(trace: readonly TraceEntry[], refusals: readonly Refusal[]): string[] {
  return namesIn(
    trace,
    refusals.map(({ code }) => code),
    refusalReasonOfEvent,
  );
}

/** The names in refusals and events, each once. */
function namesIn(
  trace: readonly TraceEntry[],
  named: readonly (string | undefined)[],
  nameIn: (event: string, content: JsonObject) => string | undefined,
): string[] {
  const found = new Set(named);
  for (const { protocol, direction, event, content } of trace) {
    if (protocol === WIRE || direction !== "response" || !isJsonObject(content)) continue;
    found.add(nameIn(event, content));
  }
  return [...found].filter((name) => name !== undefined);
}
