import { useEffect, useState } from "react";
import type { FormEvent, ReactNode } from "react";
import { CopyButton } from "../components/copy-button.js";
import { Text } from "../components/text.js";
import { pinLogKey, usePinnedLogKey } from "./log-key.js";
import { performedChecks, verifyEvidence } from "./verify-entry.js";
import type { Evidence, Outcome } from "./verify-entry.js";

/** The checks of an entry that this browser performed, line by line. */
export function Checklist({ evidence }: { readonly evidence: Evidence }): ReactNode {
  const pinned = usePinnedLogKey();
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    let isGone = false;
    setOutcome(undefined);
    void verifyEvidence(evidence, pinned).then((result) => {
      if (!isGone) setOutcome(result);
    });
    return () => {
      isGone = true;
    };
  }, [evidence, pinned]);
  return (
    <section className="card" aria-labelledby="verified">
      <h2 id="verified">Verified in this browser</h2>
      {outcome === undefined ? <p className="notice">Checking…</p> : <Result outcome={outcome} />}
      <LogKey evidence={evidence} pinned={pinned} />
    </section>
  );
}

function Result({ outcome }: { readonly outcome: Outcome }): ReactNode {
  if (outcome.kind === "impossible") return <p className="notice warn">{outcome.reason}</p>;
  const { verification, isPinned } = outcome;
  return (
    <>
      <p className={verification.valid ? "notice good" : "notice bad"} role="status">
        <strong>
          {verification.valid
            ? isPinned
              ? "Signed, unchanged, and in the log of the key you pinned"
              : "Signed, unchanged, and in the log that this gateway shows"
            : "This entry is not what was signed, or not where it should be"}
        </strong>
      </p>
      <ul className="checklist">
        {performedChecks(verification).map((check) => (
          <li key={check.id} className={check.status}>
            <span className="tick-sign" aria-hidden="true">
              {check.status === "held" ? "✓" : "✕"}
            </span>
            <span>
              <span className="unseen">{check.status}: </span>
              {check.title}
              <span className="faint">
                {" "}
                <Text value={check.detail} isWrapped />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function LogKey({
  evidence,
  pinned,
}: {
  readonly evidence: Evidence;
  readonly pinned: string | undefined;
}): ReactNode {
  const [draft, setDraft] = useState("");
  const pin = (event: FormEvent): void => {
    event.preventDefault();
    if (draft.trim() !== "") pinLogKey(draft.trim());
    setDraft("");
  };
  return (
    <details className="log-key" open={pinned !== undefined && pinned !== evidence.presentedKey}>
      <summary>
        {pinned === undefined
          ? "The log's key came from the gateway itself"
          : "The log's key is pinned in this browser"}
      </summary>
      {pinned === undefined ? (
        <p>
          So the ticks say that entry, proof and checkpoint agree with each other and with this key;
          they do not say whose log it is. Compare the key with the one in <code>log.vkey</code> of
          the key directory, got another way, and pin it: another key or a rewritten log is then
          noticed here.
        </p>
      ) : (
        <p>
          {pinned === evidence.presentedKey
            ? "The gateway names the same key."
            : "The gateway names another key than the one you pinned. Unless an operator rotated it, do not trust this log."}
        </p>
      )}
      <p className="key">
        <code>
          <Text value={pinned ?? evidence.presentedKey} isWrapped />
        </code>{" "}
        <CopyButton text={pinned ?? evidence.presentedKey} what="log key" />
      </p>
      <form className="pin" onSubmit={pin}>
        <label className="field">
          <span>A key you got another way</span>
          <input
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
            spellCheck={false}
            autoComplete="off"
          />
        </label>
        <div className="buttons">
          <button type="submit" disabled={draft.trim() === ""}>
            Pin this one
          </button>
          {pinned === undefined ? (
            <button type="button" onClick={() => pinLogKey(evidence.presentedKey)}>
              Trust the gateway&apos;s from now on
            </button>
          ) : (
            <button type="button" onClick={() => pinLogKey(undefined)}>
              Forget it
            </button>
          )}
        </div>
      </form>
      <p className="faint small-print">
        The code that checks came from the gateway too. For evidence independent of the gateway,
        take the proof elsewhere: <code>countersign receipts proof</code> and{" "}
        <code>countersign receipts verify</code>.
      </p>
    </details>
  );
}
