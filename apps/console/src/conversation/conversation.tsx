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
import type { Click } from "./clicks.js";
import { shorten } from "./shorten.js";
import type { Kept } from "./read-payloads.js";
import { stepsOf } from "./steps.js";
import type { Step } from "./steps.js";
import { useDrawings } from "./use-drawings.js";
import type { LoadedDrawings } from "./use-drawings.js";

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
  const drawings = useDrawings(entries, payloads);
  return (
    <section className="card" aria-labelledby="conversation">
      <h2 id="conversation">Conversation</h2>
      {kept?.state === "none" ? <NoContent problem={kept.problem} /> : null}
      {kept?.state === "kept" ? <WhatIsKept kept={kept} /> : null}
      <ol className="conversation">
        {steps.map((step) => (
          <StepView key={step.entries[0]?.seq} step={step} drawings={drawings} />
        ))}
      </ol>
    </section>
  );
}

/** The payloads of a run that are missing. */
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

function titleOf({ kind, entries }: Step, drawings: LoadedDrawings | undefined): string {
  // A message list is a change of the state; with a surface it is what the person saw.
  if (kind === "state" && entries.some(({ seq }) => drawings?.drawn.has(seq)))
    return TITLES.activity;
  const isCustom = typeof entries[0]?.receipt.event_type === "object";
  return isCustom && entries[0]?.tool === undefined ? "Custom event" : TITLES[kind];
}

function StepView({
  step,
  drawings,
}: {
  readonly step: Step;
  readonly drawings: LoadedDrawings | undefined;
}): ReactNode {
  const { kind, verdict, name, place, rule, entries, clicks } = step;
  const [first] = entries;
  const explanation = useExplanation(rule);
  if (first === undefined) return null;
  const isGhost = verdict === "blocked";
  return (
    <li className={`step step-${kind}${isGhost ? " ghost" : ""}`}>
      <p className="step-head">
        <strong>{titleOf(step, drawings)}</strong>{" "}
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
      {clicks.map((click, at) => (
        <ClickView key={at} click={click} label={drawings?.labels.get(first.seq)?.[at]} />
      ))}
      <Content step={step} drawings={drawings} isGhost={isGhost} />
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

/** The text or the interface of a step. */
function Content({
  step: { kind, entries, text, clicks },
  drawings,
  isGhost,
}: {
  readonly step: Step;
  readonly drawings: LoadedDrawings | undefined;
  readonly isGhost: boolean;
}): ReactNode {
  const withheld =
    kind === "request" ? "the agent did not get this" : "the person did not see this";
  // A step is drawn as its last event left it.
  const last = entries.findLast(({ seq }) => drawings?.drawn.has(seq) === true);
  const drawn = last === undefined ? undefined : drawings?.drawn.get(last.seq);
  const isEmpty = text === undefined || text === "";
  if (isEmpty && drawn === undefined && clicks.length === 0) {
    return (
      <p className="faint small-print">
        {entries.length} {entries.length === 1 ? "event" : "events"}
        {isGhost ? `, withheld: ${withheld}` : ""}
      </p>
    );
  }
  const said = isEmpty ? null : (
    <div className="said">{text.split("\n").map(visibleText).join("\n")}</div>
  );
  return (
    <>
      {drawings === undefined || drawn === undefined ? (
        said
      ) : (
        <>
          <drawings.View drawn={drawn} />
          {said === null ? null : (
            <details className="small-print">
              <summary>Payload as text</summary>
              {said}
            </details>
          )}
        </>
      )}
      {isGhost ? <p className="faint small-print">Withheld: {withheld}.</p> : null}
    </>
  );
}

/** The press of a person, as the page reported it. */
function ClickView({
  click,
  label,
}: {
  readonly click: Click;
  readonly label: string | undefined;
}): ReactNode {
  if (click.kind === "unreadable") {
    return (
      <p>
        Sent an action that is not readable: <Text value={click.name} isWrapped />
      </p>
    );
  }
  if (click.kind === "app") {
    return (
      <p>
        The app sent <Text value={click.method} isWrapped /> <Text value={click.about} isWrapped />{" "}
        to the server <Text value={click.server} isWrapped />
      </p>
    );
  }
  return (
    <p>
      Pressed{" "}
      {label === undefined ? null : (
        <strong className="drawn-label">
          <Text value={shorten(label)} isWrapped />
        </strong>
      )}{" "}
      (<Text value={shorten(click.action)} isWrapped />) on{" "}
      <Text value={shorten(`${click.surfaceId}/${click.componentId}`)} isWrapped />
      {click.contextKeys.length === 0 ? null : (
        <span className="faint">
          {" "}
          with <Text value={shorten(click.contextKeys.join(", "))} isWrapped />
        </span>
      )}
    </p>
  );
}
