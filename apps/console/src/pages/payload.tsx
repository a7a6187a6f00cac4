import { useState } from "react";
import type { ReactNode } from "react";
import { ControlProblem, fetchJson } from "../api/request.js";
import { announce } from "../components/announce.js";
import { CopyButton } from "../components/copy-button.js";
import { Reason, useMissingRole } from "../components/needs-role.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import { visibleText } from "../components/visible-text.js";
import type { KeptPayload } from "../conversation/read-payloads.js";

const OMITTED = {
  policy: "The policy keeps no payload of such events (ag_ui_evidence.never).",
  size: "The payload was larger than evidence.max_payload_bytes.",
} as const;

/** The kept payload of an entry, read when the operator asks for it: each read is a receipt. */
export function Payload({ seq }: { readonly seq: number }): ReactNode {
  const [kept, setKept] = useState<KeptPayload>();
  const [problem, setProblem] = useState<ControlProblem>();
  const [isBusy, setBusy] = useState(false);
  const missing = useMissingRole("operator");
  const read = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setKept(await fetchJson<KeptPayload>(`/v1/receipts/${seq}/evidence`));
      announce("The payload is shown");
    } catch (error) {
      if (!(error instanceof ControlProblem)) throw error;
      setProblem(error);
    }
    setBusy(false);
  };
  return (
    <section className="card" aria-labelledby="payload">
      <h2 id="payload">Payload</h2>
      {kept === undefined ? (
        <p>
          <button type="button" disabled={isBusy || missing !== undefined} onClick={read}>
            {isBusy ? "Reading…" : "Show payload"}
          </button>{" "}
          <Reason text={missing ?? "Reading it writes a receipt with your name."} />
        </p>
      ) : (
        <KeptText kept={kept} />
      )}
      {problem === undefined ? null : (
        <p className={problem.status === 404 ? "notice" : "notice bad"} role="alert">
          <Text value={problem.message} isWrapped />
        </p>
      )}
    </section>
  );
}

function KeptText({ kept }: { readonly kept: KeptPayload }): ReactNode {
  const { payload, emitted, redacted, omitted, kept_at: keptAt } = kept;
  return (
    <>
      {keptAt === undefined ? null : (
        <p className="faint small-print">
          Kept <Time at={keptAt} isFull />.{" "}
          {redacted === undefined && omitted === undefined
            ? "Its SHA-256 is the payload_hash of the receipt."
            : ""}
        </p>
      )}
      {omitted === undefined ? null : <p className="notice">{OMITTED[omitted]}</p>}
      {redacted === undefined ? null : (
        <p className="notice">
          The policy removed {redacted.length} {redacted.length === 1 ? "part" : "parts"}; the hash
          in the log is that of the original.
        </p>
      )}
      {payload === undefined ? null : (
        <Json
          value={payload}
          label={redacted === undefined ? "What was hashed" : "Redacted copy"}
        />
      )}
      {emitted === undefined ? null : <Json value={emitted} label="What the client received" />}
    </>
  );
}

function Json({ value, label }: { readonly value: unknown; readonly label: string }): ReactNode {
  const text = JSON.stringify(value, undefined, 2);
  return (
    <>
      <div className="head">
        <span className="faint small-print">{label}</span>
        <CopyButton text={text} what={label} />
      </div>
      <pre className="wrapped" tabIndex={0} aria-label={`${label} as JSON`}>
        {text.split("\n").map(visibleText).join("\n")}
      </pre>
    </>
  );
}
