import { ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { DocumentProblem, LoadedDocument } from "../library/library.js";
import { textMember } from "../oatf/json/values.js";
import type { NormalizedAttack } from "../oatf/index.js";
import { isServer } from "../runner/mode.js";
import type { RunnerOptions } from "../runner/options.js";
import { probeTarget } from "../runner/probe.js";
import { runDocument } from "../runner/run-document.js";
import type { DocumentResult, Outcome } from "../runner/run-document.js";
import { REPORT_SCHEMA, summarize } from "./report.js";
import type { ReportEntry, SuiteReport, TargetResult } from "./report.js";

/** How a batch of documents is run. */
export type SuiteOptions = RunnerOptions & {
  /** The address of a gateway before the same target; each document runs both ways. */
  readonly through?: string;
  /** Times each document runs; the worst outcome counts. */
  readonly repeat?: number;
  /** Documents that run at the same time. */
  readonly concurrency?: number;
  /** Entries of an interrupted suite by file name; those documents are not run again. */
  readonly done?: ReadonlyMap<string, ReportEntry>;
  readonly source?: string;
  onEntry?(entry: ReportEntry, finished: number, total: number): void;
};

const WORST_FIRST: readonly Outcome[] = [
  "exploited",
  "partial",
  "error",
  "unsupported",
  "not_exploited",
];

/** Runs documents against a target, a few at a time. One that is invalid or fails leaves the others alone. */
export async function runSuite(
  documents: readonly LoadedDocument[],
  options: SuiteOptions,
): Promise<SuiteReport> {
  const started = performance.now();
  const startedAt = new Date().toISOString();
  const remarks: string[] = [];
  const ways = await Promise.all(
    [options.target, options.through].map(async (target) =>
      target === undefined ? undefined : greet({ ...options, target }, remarks),
    ),
  );
  const [direct, through] = ways;
  const entries: (ReportEntry | undefined)[] = documents.map(({ name }) => options.done?.get(name));
  let finished = entries.filter((entry) => entry !== undefined).length;
  const waiting = documents
    .map((_, index) => index)
    .filter((index) => entries[index] === undefined);
  const concurrent = waiting.filter((index) => !hasServers(documents[index]));
  // The agent knows the servers of one document at a time, and would ask them in the runs of another document too.
  const alone = waiting.filter((index) => hasServers(documents[index]));
  const isStopped = (): boolean => options.signal?.aborted === true;
  const work = async (queue: number[]): Promise<void> => {
    for (let index = queue.shift(); index !== undefined; index = queue.shift()) {
      if (isStopped()) return;
      const loaded = documents[index];
      if (loaded === undefined || direct === undefined) return;
      const entry = await runOne(loaded, direct, through, options.repeat ?? 1);
      // A document that was cut short belongs to the next attempt.
      if (isStopped()) return;
      entries[index] = entry;
      finished += 1;
      options.onEntry?.(entry, finished, documents.length);
    }
  };
  const workers = Array.from({ length: Math.max(1, options.concurrency ?? 4) });
  await Promise.all(workers.map(() => work(concurrent)));
  await work(alone);
  const ran = entries.filter((entry) => entry !== undefined);
  return {
    schema: REPORT_SCHEMA,
    source: options.source ?? "countersign",
    target: options.target,
    ...(options.through === undefined ? {} : { gateway: options.through }),
    startedAt,
    milliseconds: Math.round(performance.now() - started),
    complete: ran.length === documents.length,
    remarks,
    entries: ran,
    summary: summarize(ran),
  };
}

function hasServers(loaded: LoadedDocument | undefined): boolean {
  if (loaded?.ok !== true) return false;
  return loaded.document.attack.execution.actors.some(({ mode }) => isServer(mode));
}

async function greet(options: RunnerOptions, remarks: string[]): Promise<RunnerOptions> {
  const { answers, reason } = await probeTarget(options);
  if (!answers) {
    remarks.push(
      `${options.target} does not answer a harmless request (${reason ?? "unknown"}), so its refusals count as errors`,
    );
  }
  return { ...options, refusalsCount: answers };
}

async function runOne(
  loaded: LoadedDocument,
  direct: RunnerOptions,
  through: RunnerOptions | undefined,
  repeat: number,
): Promise<ReportEntry> {
  if (!loaded.ok) return invalidEntry(loaded.name, loaded.problems);
  const { document } = loaded;
  const run = async (options: RunnerOptions): Promise<DocumentResult[]> => {
    const results: DocumentResult[] = [];
    for (let time = 0; time < repeat; time += 1) results.push(await runDocument(document, options));
    return results;
  };
  const head = headOf(loaded.name, document.attack);
  const first = worstOf(await run(direct));
  if (through === undefined) return { ...head, direct: first };
  const second = worstOf((await run(through)).map((result) => creditGateway(first, result)));
  // The same agent gave in without the gateway, so it was the gateway that said no, aloud or not.
  const gaveIn = first.outcome === "exploited" || first.outcome === "partial";
  const stopped = second.stopped || (gaveIn && second.outcome === "not_exploited");
  return { ...head, direct: first, through: { ...second, stopped } };
}

/**
 * An attack that succeeds against the agent alone and that a gateway cuts short is stopped by the gateway.
 * The rest could not be sent, because the gateway refused or removed something.
 */
function creditGateway(direct: TargetResult, result: DocumentResult): DocumentResult {
  const isCutShort =
    result.outcome === "error" && result.gaps.every(({ kind }) => kind === "cut_short");
  const gaveIn = direct.outcome === "exploited" || direct.outcome === "partial";
  const isStopped = gaveIn || (direct.outcome === "not_exploited" && result.stopped);
  if (!isCutShort || !isStopped) return result;
  return { ...result, outcome: "not_exploited", stopped: true };
}

function worstOf(results: readonly DocumentResult[]): TargetResult {
  const sorted = results.toSorted(
    (one, other) => WORST_FIRST.indexOf(one.outcome) - WORST_FIRST.indexOf(other.outcome),
  );
  const [worst] = sorted;
  if (worst === undefined) throw new TypeError("a document runs at least once");
  const distribution: Partial<Record<Outcome, number>> = {};
  for (const { outcome } of results) distribution[outcome] = (distribution[outcome] ?? 0) + 1;
  return { ...resultOf(worst), ...(results.length > 1 ? { distribution } : {}) };
}

function resultOf({
  outcome,
  reason,
  stopped,
  gaps,
  verdict,
  execution: done,
}: DocumentResult): TargetResult {
  return {
    outcome,
    ...(reason === undefined ? {} : { reason }),
    stopped,
    gaps,
    ...(verdict?.max_tier === undefined ? {} : { tier: verdict.max_tier }),
    indicators: verdict?.indicator_verdicts ?? [],
    receipts: done?.receipts ?? [],
    objections: done?.objections ?? [],
    refusals: done?.refusals ?? [],
    actors: done?.actors ?? [],
    notes: done?.notes ?? [],
    ...(done === undefined ? {} : { transport: done.transport, trace: done.trace }),
    events: done?.trace.length ?? 0,
    truncated: done?.truncated ?? false,
    milliseconds: done?.milliseconds ?? 0,
  };
}

type Head = Omit<ReportEntry, "direct" | "through">;

function headOf(name: string, attack: NormalizedAttack): Head {
  const mappings = attack.classification?.mappings ?? [];
  const category = attack.classification?.category;
  const fix = textMember(attack, "x-countersign-fix");
  const looksFor = (attack.indicators ?? []).map(({ id, description }) => [id, description ?? ""]);
  return {
    name,
    id: attack.id ?? name,
    title: attack.name,
    version: attack.version,
    ...(attack.description === undefined ? {} : { description: attack.description }),
    severity: attack.severity?.level ?? "informational",
    ...(category === undefined ? {} : { category }),
    ...(fix === undefined ? {} : { fix }),
    tags: attack.classification?.tags ?? [],
    mappings: mappings.map((mapping) => ({
      framework: mapping.framework,
      id: mapping.id,
      ...(mapping.name === undefined ? {} : { name: mapping.name }),
    })),
    looksFor: Object.fromEntries(looksFor) as Record<string, string>,
  };
}

function invalidEntry(name: string, problems: readonly DocumentProblem[]): ReportEntry {
  const [first] = problems;
  const place = first?.line === undefined ? "" : ` at ${first.line}:${first.column ?? 1}`;
  const reason = `not a valid document${place}: ${first?.code ?? ""} ${first?.message ?? ""}`;
  return {
    name,
    id: name,
    title: "Invalid document",
    version: 1,
    severity: "informational",
    tags: [],
    mappings: [],
    looksFor: {},
    direct: resultOf({
      outcome: "error",
      stopped: false,
      reason,
      gaps: [{ kind: "error", message: reason }],
    }),
  };
}

/** An entry read back from a file that this program wrote, `undefined` when it is something else. */
export function readReportEntry(value: JsonValue): ReportEntry | undefined {
  const direct = ownMember(value, "direct");
  const isEntry =
    textMember(value, "name") !== undefined &&
    WORST_FIRST.some((outcome) => outcome === textMember(direct, "outcome")) &&
    [ownMember(value, "tags"), ownMember(value, "mappings"), ownMember(direct, "indicators")].every(
      Array.isArray,
    );
  return isEntry ? (value as unknown as ReportEntry) : undefined;
}
