import { useState } from "react";
import type { ReactNode } from "react";
import { ControlProblem } from "../api/request.js";
import { announce } from "../components/announce.js";
import { Failure } from "../components/states.js";
import { recordingOf } from "../conversation/recording.js";
import type { Kept } from "../conversation/read-payloads.js";
import { download } from "../decisions/export-rows.js";
import { MAX_REPORT, readReport } from "../report/read-report.js";
import type { RunWindow } from "./run-window.js";

/** The run as a file: a page that verifies itself, and a recording where the gateway kept the payloads. */
export function RunDownloads({
  session,
  run,
  page,
  kept,
}: {
  readonly session: string;
  readonly run: string;
  readonly page: RunWindow;
  readonly kept: Kept | undefined;
}): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ControlProblem>();
  const payloads = kept?.state === "kept" ? kept.payloads : new Map<number, unknown>();
  const name = `run-${run.replaceAll(/[^\w.-]/gu, "_").slice(0, 60)}`;
  const report = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      const where = { session, run, total: page.total };
      const originals = kept?.state === "kept" ? kept.originals : payloads;
      const html = await readReport(where, page.entries, originals);
      download(`${name}.html`, "text/html;charset=utf-8", html);
      announce("The report was downloaded");
    } catch (error) {
      if (error instanceof ControlProblem) setProblem(error);
    }
    setBusy(false);
  };
  return (
    <>
      <span className="buttons">
        <button type="button" className="small" disabled={isBusy} onClick={report}>
          {isBusy ? "Reading proofs…" : "Download as a page that verifies itself"}
        </button>
        <button
          type="button"
          className="small"
          disabled={payloads.size === 0}
          title={payloads.size === 0 ? "The gateway kept no payloads of this run" : undefined}
          onClick={() =>
            download(
              `${name}.agui.jsonl`,
              "application/jsonl",
              recordingOf(run, page.entries, payloads),
            )
          }
        >
          Download .agui.jsonl
        </button>
      </span>
      {page.entries.length > MAX_REPORT ? (
        <p className="faint small-print">
          A page has the first {MAX_REPORT.toLocaleString()} receipts in sight.
        </p>
      ) : null}
      {problem === undefined ? null : <Failure problem={problem} />}
    </>
  );
}
