import { CountersignError, isJsonObject, parseUrl } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { parseDuration } from "../oatf/index.js";
import type { NormalizedActor, NormalizedDocument, TraceEntry } from "../oatf/index.js";
import { startActor } from "./actor.js";
import type { RunnerNote } from "./actor-context.js";
import type { ActorReport } from "./actor.js";
import type { Channel, ChannelOptions, Refusal } from "./channel.js";
import { attacksByForm } from "./form.js";
import { keepsIds } from "./fresh-ids.js";
import type { Gap } from "./gap.js";
import { createHttpChannel } from "./http-channel.js";
import { DEFAULT_RUNNER_LIMITS, DEFAULT_TIMEOUTS, transportOf } from "./options.js";
import type { RunnerOptions, TransportKind } from "./options.js";
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

/** The mode this runner performs. */
export const SUPPORTED_MODE = "ag_ui_client";

const MOST_NOTES = 100;

/** The events of executing a document, before evaluation. */
export type ExecutionResult = {
  readonly trace: readonly TraceEntry[];
  /** The trace reached a bound and is not whole. */
  readonly truncated: boolean;
  readonly actors: readonly ActorReport[];
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
 * Performs a document against a target. Never throws on the target's behaviour; actors of other modes are
 * skipped by name.
 *
 * @throws CountersignError ERR_REDTEAM_MODE when no actor is an `ag_ui_client`
 * @throws TypeError when the target is not a URL
 */
export async function executeDocument(
  document: NormalizedDocument,
  options: RunnerOptions,
): Promise<ExecutionResult> {
  const { actors } = document.attack.execution;
  const supported = actors.filter(({ mode }) => mode === SUPPORTED_MODE);
  if (supported.length === 0) throw modeError(actors);
  if (parseUrl(options.target) === undefined) throw new TypeError("the target is no address");
  const limits = { ...DEFAULT_RUNNER_LIMITS, ...options.limits };
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const recorder = createTraceRecorder(limits);
  const told = createNotebook();
  const started = performance.now();
  const startedAt = new Date().toISOString();
  const variables = createVariables();
  const threads = new Set<string>();
  const settings = { target: options.target, timeouts, limits, headers: options.headers ?? {} };
  // None begins before all of them are made.
  const running = supported.map((actor) =>
    startActor(actor, {
      ...told,
      recorder,
      limits,
      variables: variables(actor.name),
      strict: options.strict === true,
      refusalsCount: options.refusalsCount === true,
      idsAsWritten: keepsIds(document),
      formIsAttack: attacksByForm(document.attack.execution),
      threads,
      channel: channelFor(settings, options),
    }),
  );
  const reports = await superviseActors(running, {
    deadline: timeouts.document,
    grace: graceOf(document, options),
    signal: options.signal,
    failed: told.failed,
  });
  const { notes, refusals, failures, gaps } = told;
  for (const { mode, name } of actors) {
    if (mode === SUPPORTED_MODE) continue;
    const message = `actor ${name} was skipped: ${mode} is not performed`;
    notes.push({ code: "W-002", message });
    told.missed({ kind: "unsupported", message });
  }
  if (recorder.truncated) {
    told.missed({ kind: "error", message: "the trace reached a bound and is not whole" });
  }
  return {
    trace: recorder.entries,
    truncated: recorder.truncated,
    actors: [...reports, ...actors.filter((actor) => actor.mode !== SUPPORTED_MODE).map(skipped)],
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

function modeError(actors: readonly NormalizedActor[]): CountersignError {
  const modes = [...new Set(actors.map(({ mode }) => mode))];
  return new CountersignError(
    "ERR_REDTEAM_MODE",
    `${modes.join(", ")}: this runner performs ${SUPPORTED_MODE} only`,
    { modes },
  );
}

function skipped({ name, mode, phases }: NormalizedActor): ActorReport {
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
