import type { AgUiEvent } from "@countersign/wire";
import type { Diagnostic } from "../base/diagnostic.js";
import { createLedgerProjection } from "../project.js";
import type { ProjectionSpec } from "../project.js";

/** Projects rows one by one and ends the stream. */
export function projectAll(
  rows: readonly unknown[],
  spec: ProjectionSpec = {},
): { frames: AgUiEvent[]; diagnostics: Diagnostic[]; codes: string[] } {
  const projection = createLedgerProjection(spec);
  const parts = [...rows.map((row) => projection.push(row)), projection.end()];
  const diagnostics = parts.flatMap((part) => [...part.diagnostics]);
  return {
    frames: parts.flatMap((part) => [...part.frames]),
    diagnostics,
    codes: diagnostics.map(({ code }) => code.slice("ERR_PROJECTION_".length)),
  };
}

/** The types of frames; CUSTOM with its name. */
export function outline(frames: readonly AgUiEvent[]): string[] {
  return frames.map((frame) => (frame.type === "CUSTOM" ? frame.name : frame.type));
}
