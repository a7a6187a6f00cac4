import type { ReactNode } from "react";
import type { Entry } from "../api/responses.js";
import { useResource } from "../api/use-resource.js";
import { verdictOfEntry } from "../api/verdict.js";
import { hrefOf } from "../route/route.js";
import { ClassBadge, VerdictBadge } from "../components/badge.js";
import { CopyButton } from "../components/copy-button.js";
import { Empty, Failure, Loading } from "../components/states.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import { visibleText } from "../components/visible-text.js";
import { Checklist } from "../verify/checklist.js";
import { readEvidence } from "../verify/read-evidence.js";
import type { Evidence } from "../verify/verify-entry.js";
import { Payload } from "./payload.js";
import { fieldsOf } from "./entry-fields.js";
import { ReceiptRule } from "./receipt-rule.js";
import { Witnessed } from "./witnessed.js";

/** One entry of the log: what it says, what its rule means, and whether it is genuine. */
export function ReceiptPage({ place }: { readonly place: string }): ReactNode {
  const isPlace = /^\d{1,15}$/u.test(place);
  const { data, problem, reload } = useResource<Evidence>(
    isPlace ? place : undefined,
    undefined,
    readEvidence,
  );
  return (
    <>
      <nav className="trail" aria-label="Neighbouring entries">
        <a href="#/receipts">Receipts</a>
        {isPlace && Number(place) > 0 ? (
          <a href={hrefOf(["receipts", Number(place) - 1])}>← previous</a>
        ) : null}
        {data !== undefined && Number(place) + 1 < data.size ? (
          <a href={hrefOf(["receipts", Number(place) + 1])}>next →</a>
        ) : null}
        {data?.entry === undefined ? null : <RunLink entry={data.entry} />}
      </nav>
      <div className="head">
        <h1 tabIndex={-1}>
          Entry <Text value={place} isWrapped />
        </h1>
        {data?.entry === undefined ? null : (
          <p className="pair">
            <Time at={data.entry.received_at} isFull />{" "}
            <ClassBadge name={data.entry.receipt.classification} />
            <VerdictBadge verdict={verdictOfEntry(data.entry)} />
          </p>
        )}
      </div>
      {isPlace ? null : (
        <Empty title="Not an entry number">A log entry has a whole number from 0.</Empty>
      )}
      {problem === undefined ? null : <Failure problem={problem} onRetry={reload} />}
      {data === undefined ? (
        isPlace && problem === undefined && <Loading what="the entry and its proof" />
      ) : (
        <ReceiptDetails evidence={data} />
      )}
    </>
  );
}

/** The run of an entry, where one can also stop it. */
function RunLink({ entry: { receipt, run_id: run } }: { readonly entry: Entry }): ReactNode {
  const { session_id: session } = receipt;
  if (run === undefined || session === undefined) return null;
  return (
    <a href={hrefOf(["runs", session, run])}>
      Run <Text value={run} isWrapped />
    </a>
  );
}

function ReceiptDetails({ evidence }: { readonly evidence: Evidence }): ReactNode {
  const { entry } = evidence;
  return (
    <>
      {entry?.rule === undefined ? null : <ReceiptRule rule={entry.rule} entry={entry} />}
      <div className="columns">
        <div className="stack">
          <Checklist evidence={evidence} />
          {entry === undefined ? null : <Witnessed seq={entry.seq} />}
          {entry === undefined ? null : <Payload key={entry.seq} seq={entry.seq} />}
          <section className="card" aria-labelledby="raw">
            <div className="head">
              <h2 id="raw">Entry as recorded</h2>
              <CopyButton text={evidence.text} what="entry" />
            </div>
            <pre className="wrapped" tabIndex={0} aria-label="Entry as JSON">
              {prettyOf(entry, evidence.text)}
            </pre>
            <details>
              <summary>Proof</summary>
              <div className="head">
                <span className="faint small-print">C2SP tlog-proof</span>
                <CopyButton text={evidence.proof} what="proof" />
              </div>
              <pre className="wrapped" tabIndex={0} aria-label="Proof">
                {visibleLines(evidence.proof)}
              </pre>
            </details>
          </section>
        </div>
        {entry === undefined ? (
          <Empty title="Not a valid log entry">The checklist shows the failed checks.</Empty>
        ) : (
          <Fields entry={entry} />
        )}
      </div>
    </>
  );
}

function Fields({ entry }: { readonly entry: Entry }): ReactNode {
  return (
    <section className="card" aria-labelledby="fields">
      <h2 id="fields">Fields</h2>
      <dl className="fields">
        {fieldsOf(entry).map((field) => (
          <div key={field.name}>
            <dt>{field.name}</dt>
            <dd className={field.isLong === true ? "long" : undefined}>
              <span className={field.isLong === true ? "mono" : undefined}>
                {field.more === undefined ? (
                  <Text value={field.value} isWrapped />
                ) : (
                  <a href={hrefOf(["receipts"], field.more)}>
                    <Text value={field.value} isWrapped />
                  </a>
                )}
              </span>
              {field.isLong === true ? <CopyButton text={field.value} what={field.name} /> : null}
              <span className="says">{field.says}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function prettyOf(entry: Entry | undefined, text: string): string {
  return visibleLines(entry === undefined ? text : JSON.stringify(entry, undefined, 2));
}

function visibleLines(text: string): string {
  return text.split("\n").map(visibleText).join("\n");
}
