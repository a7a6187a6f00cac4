import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import "../base/errors.js";
import type { RecordedEvent } from "../ledger/event.js";
import type { Disclosure } from "../safe/disclosure.js";
import { compact, PayloadReader } from "./payload-reader.js";

/** The owner of single workspace operations. */
export const WORKSPACE_OP_OWNER = "@agent-os/workspace-op";
/** The owner of workspace jobs. */
export const WORKSPACE_JOB_OWNER = "@agent-os/workspace-job";

type Read = (reader: PayloadReader) => JsonObject;

const OPERATIONS = new Map<string, Read>([
  [
    "workspace_op.requested",
    (reader) =>
      json({
        ...operation(reader),
        cwd: path(reader, "cwd"),
        command: reader.has("command")
          ? reader.disclosure.command(reader.raw("command"))
          : undefined,
        envRefs: reader.has("envRefs") ? reader.identifiers("envRefs") : undefined,
        materialRefs: reader.has("materialRefs") ? reader.identifiers("materialRefs") : undefined,
      }),
  ],
  [
    "workspace_op.completed",
    (reader) =>
      json({
        requestedEventId: reader.ledgerId("requestedEventId"),
        ...operation(reader),
        bytesWritten: reader.optionalCount("bytesWritten"),
        replacementCount: reader.optionalCount("replacementCount"),
        exitCode: exitCode(reader),
        durationMs: reader.optionalCount("durationMs"),
      }),
  ],
  [
    "workspace_op.rejected",
    (reader) =>
      json({
        requestedEventId: reader.ledgerId("requestedEventId"),
        ...operation(reader),
        reason: reader.has("reason")
          ? reader.disclosure.summary(reader.raw("reason"), "rejection")
          : undefined,
        rejectionKind: reader.optionalObject("claim")?.code("rejectionKind"),
      }),
  ],
]);

const JOB_KINDS = new Set([
  "requested",
  "terminal_finalized",
  "verified",
  "verifier_rejected",
  "failed",
  "seed_written",
  "terminal_build_attempted",
  "artifact_written",
  "artifact_readback_verified",
]);

/**
 * The safe payload of a workspace event. Paths, commands and free text are shown only if the
 * disclosure lists them; file content is never read.
 *
 * @throws CountersignError `ERR_PROJECTION_MALFORMED_PAYLOAD` or `ERR_PROJECTION_UNKNOWN_KIND`
 */
export function projectWorkspaceEvent(event: RecordedEvent, disclosure: Disclosure): JsonObject {
  const read =
    event.factOwnerRef === WORKSPACE_OP_OWNER
      ? OPERATIONS.get(event.kind)
      : event.kind.startsWith("workspace_job.") &&
          JOB_KINDS.has(event.kind.slice("workspace_job.".length))
        ? readJob
        : undefined;
  if (read === undefined) {
    throw new CountersignError(
      "ERR_PROJECTION_UNKNOWN_KIND",
      "unknown kind of workspace event",
      {},
    );
  }
  return read(new PayloadReader(event.payload, event.kind, disclosure));
}

function readJob(reader: PayloadReader): JsonObject {
  return json({
    runId: reader.ledgerId("runId"),
    idempotencyKey: reader.optionalIdentifier("idempotencyKey"),
    requestedBy: reader.optionalIdentifier("requestedBy"),
    terminalSchemaId: reader.optionalIdentifier("terminalSchemaId"),
    workspaceRef: reader.optionalIdentifier("workspaceRef"),
    inputRef: reader.optionalIdentifier("inputRef"),
    inputHash: reader.optionalIdentifier("inputHash"),
    attempt: reader.optionalCount("attempt"),
    artifact: readArtifact(reader.optionalObject("artifact")),
    checks: readChecks(reader.optionalObject("checks")),
    phase: reader.code("phase"),
    code: reader.code("code"),
    reason: reader.has("reason")
      ? reader.disclosure.summary(reader.raw("reason"), "rejection")
      : undefined,
    retryable: reader.optionalFlag("retryable"),
  });
}

function readArtifact(artifact: PayloadReader | undefined): JsonObject | undefined {
  if (artifact === undefined) return undefined;
  return json({
    artifactRef: artifact.identifier("artifactRef"),
    path: path(artifact, "path"),
    schemaId: artifact.optionalIdentifier("schemaId"),
    sha256: artifact.optionalIdentifier("sha256"),
    bytes: artifact.optionalCount("bytes"),
  });
}

function readChecks(checks: PayloadReader | undefined): JsonObject | undefined {
  if (checks === undefined) return undefined;
  return json({
    total: checks.count("total"),
    passed: checks.count("passed"),
    failed: checks.count("failed"),
    checks: checks.has("checks")
      ? checks.list("checks").map((item, index) => {
          const check = checks.element("checks", index, item);
          return json({
            name: check.identifier("name"),
            status: check.code("status"),
            proofRef: check.optionalIdentifier("proofRef"),
            fingerprint: check.optionalIdentifier("fingerprint"),
          });
        })
      : undefined,
  });
}

function operation(reader: PayloadReader) {
  return {
    toolName: reader.identifier("toolName"),
    toolCallId: reader.optionalIdentifier("toolCallId"),
    path: path(reader, "path"),
  };
}

function path(reader: PayloadReader, name: string) {
  return reader.has(name) ? reader.disclosure.path(reader.raw(name)) : undefined;
}

/** A process killed by a signal may report a negative code. */
function exitCode(reader: PayloadReader): number | undefined {
  const code = reader.raw("exitCode");
  if (code !== undefined && !Number.isSafeInteger(code)) throw reader.malformed("/exitCode");
  return code as number | undefined;
}

function json(members: Record<string, unknown>): JsonObject {
  return compact(members) as JsonObject;
}
