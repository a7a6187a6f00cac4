import type { ReactNode } from "react";
import type { Entry } from "../api/responses.js";
import type { ControlProblem } from "../api/request.js";
import { useExplanation } from "../api/use-explanation.js";
import { hrefOf } from "../route/route.js";
import { VerdictBadge } from "../components/badge.js";
import { InlineCode } from "../components/inline-code.js";
import { Text } from "../components/text.js";
import { Time } from "../components/time.js";
import { visibleText } from "../components/visible-text.js";
import type { Kept } from "./read-payloads.js";
import { stepsOf } from "./steps.js";
import type { Step } from "./steps.js";

const TITLES: Readonly<Record<Step["kind"], string>> = {
  request: "Person",
  text: "Agent",
  tools: "Tool",
  state: "State",
  activity: "Interface",
  lifecycle: "Run",
};

/** Event types that say no more than the title of their step. */
const PLAIN: ReadonlySet<string> = new Set(["lifecycle", "text_stream"]);

const NOTHING: ReadonlyMap<number, unknown> = new Map();

/** The conversation as the person saw it, and the withheld parts as outlines. Only text: nothing is rendered. */
export function Conversation({
  entries,
  kept,
}: {
  readonly entries: readonly Entry[];
  readonly kept: Kept | undefined;
}): ReactNode {
  const payloads = kept?.state === "kept" ? kept.payloads : NOTHING;
  const steps = stepsOf(entries, payloads).filter(
    (step) => step.kind !== "lifecycle" || step.verdict !== "allowed",
  );
  return (
    <section className="card" aria-labelledby="conversation">
      <h2 id="conversation">Conversation</h2>
      {kept?.state === "none" ? <NoContent problem={kept.problem} /> : null}
      {kept?.state === "kept" ? <WhatIsKept kept={kept} /> : null}
      <ol className="conversation">
        {steps.map((step) => (
          <StepView key={step.entries[0]?.seq} step={step} />
        ))}
      </ol>
    </section>
  );
}

/** What is missing of the payloads of a run. */
function WhatIsKept({ kept }: { readonly kept: Extract<Kept, { state: "kept" }> }): ReactNode {
  const { payloads, redacted, omitted, damaged } = kept;
  return (
    <>
      {damaged === 0 ? null : (
        <p className="notice bad">
          {count(damaged, "kept payload")} cannot be read: changed since, or encrypted with a key
          that this gateway does not have. Open the receipt for the reason.
        </p>
      )}
      {payloads.size === 0 && omitted === 0 ? (
        <p className="notice">
          No payload of this run is kept, or its time is over. The steps are from the receipts.
        </p>
      ) : null}
      {redacted === 0 && omitted === 0 ? null : (
        <p className="notice">
          {[
            redacted === 0 ? "" : `The policy removed parts of ${count(redacted, "payload")}. `,
            omitted === 0 ? "" : `${count(omitted, "payload")} left out by policy or size.`,
          ].join("")}
        </p>
      )}
    </>
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Why the steps have no content, and how to keep it. */
function NoContent({ problem }: { readonly problem: ControlProblem }): ReactNode {
  if (problem.status === 403) {
    return (
      <p className="notice">
        Structure only: the content of a conversation needs the role operator.
      </p>
    );
  }
  if (problem.code !== "EVIDENCE_OFF") {
    return (
      <p className="notice bad">
        Structure only: the payloads could not be read. <Text value={problem.message} isWrapped />
      </p>
    );
  }
  return (
    <p className="notice">
      <span>
        Structure only: this gateway keeps no payloads. To keep encrypted copies for a limited time,
        set <code>{"evidence: { keep: 7d, events: all }"}</code> in <code>countersign.yaml</code>.
      </span>
    </p>
  );
}

function titleOf({ kind, entries }: Step): string {
  const isCustom = typeof entries[0]?.receipt.event_type === "object";
  return isCustom && entries[0]?.tool === undefined ? "Custom event" : TITLES[kind];
}

function StepView({ step }: { readonly step: Step }): ReactNode {
  const { kind, verdict, name, place, rule, entries, text } = step;
  const [first] = entries;
  const explanation = useExplanation(rule);
  if (first === undefined) return null;
  const isGhost = verdict === "blocked";
  return (
    <li className={`step step-${kind}${isGhost ? " ghost" : ""}`}>
      <p className="step-head">
        <strong>{titleOf(step)}</strong>{" "}
        {PLAIN.has(name) && kind !== "lifecycle" ? null : <Text value={name} />}
        {place === "" ? null : (
          <span className="faint">
            {" "}
            <Text value={place} />
          </span>
        )}
        {verdict === "allowed" ? null : <VerdictBadge verdict={verdict} />}
        <a href={hrefOf(["receipts", first.seq])}>
          <Time at={first.received_at} isShort />
          <span className="unseen"> receipt {first.seq}</span>
        </a>
      </p>
      {text === undefined || text === "" ? (
        <p className="faint small-print">
          {entries.length} {entries.length === 1 ? "event" : "events"}
          {isGhost ? ", withheld: the person did not see this" : ""}
        </p>
      ) : (
        <>
          <div className="said">{text.split("\n").map(visibleText).join("\n")}</div>
          {isGhost ? (
            <p className="faint small-print">Withheld: the person did not see this.</p>
          ) : null}
        </>
      )}
      {rule === undefined ? null : (
        <p className="small-print">
          <a href={hrefOf(["receipts"], { rule })}>
            <code>
              <Text value={rule} isWrapped />
            </code>
          </a>{" "}
          <InlineCode text={explanation?.means ?? ""} />
        </p>
      )}
    </li>
  );
}
