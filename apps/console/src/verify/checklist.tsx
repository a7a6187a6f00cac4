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
              ? "Signed, unchanged, and in the log of the pinned key"
              : "Signed, unchanged, and in the log that this gateway presents"
            : "Verification failed: the entry was changed or is not at this position in the log"}
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
          ? "The log key comes from the gateway and is not pinned"
          : "The log key is pinned in this browser"}
      </summary>
      {pinned === undefined ? (
        <p>
          The checks show that entry, proof and checkpoint match each other and this key. They do
          not show whose log it is. Get <code>log.vkey</code> from the key directory over another
          channel, compare the keys, then pin the key: the console then reports another key or a
          rewritten log.
        </p>
      ) : (
        <p>
          {pinned === evidence.presentedKey
            ? "The gateway presents the same key."
            : "The gateway presents another key than the pinned key. Unless an operator rotated the key, do not trust this log."}
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
          <span>Log key from another channel</span>
          <input
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
            spellCheck={false}
            autoComplete="off"
          />
        </label>
        <div className="buttons">
          <button type="submit" disabled={draft.trim() === ""}>
            Pin this key
          </button>
          {pinned === undefined ? (
            <button type="button" onClick={() => pinLogKey(evidence.presentedKey)}>
              Pin the gateway&apos;s key
            </button>
          ) : (
            <button type="button" onClick={() => pinLogKey(undefined)}>
              Remove the pin
            </button>
          )}
        </div>
      </form>
      <p className="faint small-print">
        The gateway also serves the code that runs these checks. It also names the keys of
        witnesses. To verify without the gateway, use <code>countersign receipts proof</code> and{" "}
        <code>countersign receipts verify</code>.
      </p>
    </details>
  );
}
