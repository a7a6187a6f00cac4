import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { LedgerEvent } from "./ledger/event.js";
import { isRecord } from "./safe/value.js";
import { verifyAgUiFrameSafety } from "./safety/index.js";
import { projectAll } from "./testing/drive.js";
import { ABORTS, everyKind, row } from "./testing/sample-ledger.js";

const CANARY = "CANARY Hunter2! s3cret/key";
const spec = { forbiddenLiterals: [CANARY, "Hunter2"] };

/** Every kind, each abort in its own ledger, later kinds included. */
function ledgers(): LedgerEvent[][] {
  const aborted = ABORTS.map((kind) => [
    row(1, "agent.run.started", { intent: "text" }),
    row(2, `agent.aborted.${kind}`, {
      runId: 1,
      tokensUsed: 3,
      toolName: "read_file",
      cause: "cause text",
      detail: { stack: "stack text" },
    }),
  ]);
  return [everyKind(), ...aborted];
}

type Planted = { readonly place: string; readonly rows: LedgerEvent[] };

/**
 * The ledger with the canary at one position, for every position: each value, each new member, each
 * name.
 */
function* planted(rows: readonly LedgerEvent[]): Iterable<Planted> {
  for (const [index, event] of rows.entries()) {
    const places = [...placesIn(event.payload as JsonValue, [])];
    for (const { path, kind } of places) {
      const copy = structuredClone(rows) as LedgerEvent[];
      const target = copy[index];
      if (target === undefined) continue;
      plant(target, ["payload", ...path], kind);
      const place = `${event.kind}/${path.join("/")}${kind === "value" ? "" : `~${kind}`}`;
      yield { place: place.replaceAll(/\/\d+/g, "/*"), rows: copy };
    }
    const copy = structuredClone(rows) as LedgerEvent[];
    copy[index] = {
      ...event,
      effectAuthorityRef: { authorityId: CANARY, authorityClass: CANARY, version: CANARY },
    };
    yield { place: `${event.kind}~authority`, rows: copy };
  }
}

type Place = { path: string[]; kind: "value" | "member" | "name" };

function* placesIn(value: JsonValue, path: string[]): Iterable<Place> {
  if (path.length > 0) yield { path, kind: "value" };
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) {
    yield { path, kind: "member" };
    yield { path, kind: "name" };
  }
  for (const [name, member] of Object.entries(value)) {
    yield* placesIn(member as JsonValue, [...path, name]);
  }
}

function plant(target: object, path: string[], kind: Place["kind"]): void {
  const parent = (kind === "value" ? path.slice(0, -1) : path).reduce<unknown>(
    (part, name) => (part as Record<string, unknown>)[name],
    target,
  );
  if (!isRecord(parent) && !Array.isArray(parent)) return;
  const record = parent as Record<string, unknown>;
  if (kind === "value") record[path.at(-1) ?? ""] = CANARY;
  else if (kind === "member") record["unforeseen"] = { secret: [CANARY] };
  else record[CANARY] = "value";
}

/** The only members that are shown verbatim: text, ids, names and references. */
const KEPT = [
  "agent.run.interrupted/decision/gateRef",
  "agent.run.interrupted/decision/subjectRef",
  "agent.run.interrupted/decision/toolCallId",
  "agent.run.interrupted/decision/toolName",
  "agent.run.interrupted/interruptId",
  "agent.run.resumed/interruptId",
  "llm.requested/modelId",
  "llm.requested/toolNames/*",
  "llm.response/items/*/call/function/name",
  "llm.response/items/*/call/id",
  "llm.response/items/*/summaryRef",
  "llm.response/items/*/text",
  "runtime.completed_after_tools/toolNames/*",
  "runtime.history_compacted/sourceRef",
  "runtime.history_compacted/summaryRef",
  "runtime.rekeyed/fromKeyRef",
  "runtime.rekeyed/toKeyRef",
  "tool.executed/name",
  "tool.executed/toolCallId",
  "tool.rejected/name",
  "tool.rejected/toolCallId",
  "workspace_job.verified/artifact/artifactRef",
  "workspace_job.verified/artifact/schemaId",
  "workspace_job.verified/artifact/sha256",
  "workspace_job.verified/checks/checks/*/fingerprint",
  "workspace_job.verified/checks/checks/*/name",
  "workspace_job.verified/checks/checks/*/proofRef",
  "workspace_job.verified/idempotencyKey",
  "workspace_job.verified/inputHash",
  "workspace_job.verified/inputRef",
  "workspace_job.verified/requestedBy",
  "workspace_job.verified/terminalSchemaId",
  "workspace_job.verified/workspaceRef",
  "workspace_op.completed/toolName",
  "workspace_op.rejected/toolName",
  "workspace_op.requested/envRefs/*",
  "workspace_op.requested/materialRefs/*",
  "workspace_op.requested/toolCallId",
  "workspace_op.requested/toolName",
];

test("a secret planted anywhere leaves only by the listed fields that are kept verbatim", () => {
  const shown = new Set<string>();
  let count = 0;
  for (const ledger of ledgers()) {
    for (const { place, rows } of planted(ledger)) {
      count++;
      const { frames, diagnostics } = projectAll(rows);
      if (JSON.stringify(frames).includes("Hunter2")) shown.add(place);
      expect(JSON.stringify(diagnostics)).not.toContain("Hunter2");
    }
  }
  expect(count).toBeGreaterThan(250);
  expect([...shown].sort()).toEqual(KEPT);
});

test("with the secret in the scrub rules, a secret planted in any field of any event is in no frame", () => {
  const disclosure = { scrub: { literals: [CANARY] } };
  let count = 0;
  for (const ledger of ledgers()) {
    for (const { place, rows } of planted(ledger)) {
      const { frames, diagnostics } = projectAll(rows, { disclosure });
      expect(JSON.stringify([frames, diagnostics]), place).not.toContain("Hunter2");
      // The search through all encodings costs ten times the projection: every fifth time.
      const searched = count++ % 5 === 0 ? frames : [];
      expect(verifyAgUiFrameSafety(searched, spec), place).toEqual([]);
    }
  }
});

test("B28: a workspace run with secrets in its inputs, outputs and results leaves none in a frame", () => {
  const rows = everyKind().map((event) => {
    const payload = event.payload as Record<string, unknown>;
    return {
      ...event,
      payload: {
        ...payload,
        ...("args" in payload && { args: { path: CANARY, content: CANARY } }),
        ...("result" in payload && { result: { stdout: CANARY } }),
        ...("command" in payload && { command: CANARY }),
        ...("claim" in payload && { claim: { rejectionKind: CANARY, reason: CANARY } }),
        receipt: { signature: CANARY },
      },
    };
  });
  const { frames } = projectAll(rows);
  expect(frames.length).toBeGreaterThan(30);
  expect(verifyAgUiFrameSafety(frames, spec)).toEqual([]);
});
