import type { ReactNode } from "react";
import type { Entry, EntryMeaning, Opening } from "../api/responses.js";
import { useExplanation } from "../api/use-explanation.js";
import { useResource } from "../api/use-resource.js";
import { CopyButton } from "../components/copy-button.js";
import { InlineCode } from "../components/inline-code.js";
import { Failure } from "../components/states.js";
import { Text } from "../components/text.js";
import { visibleText } from "../components/visible-text.js";

/** The rule of an entry, its meaning, and the lines that would allow the event. */
export function ReceiptRule({
  rule,
  entry,
}: {
  readonly rule: string;
  readonly entry: Entry;
}): ReactNode {
  const explanation = useExplanation(rule);
  const isBlocked = !entry.receipt.allowed;
  return (
    <section className={isBlocked ? "notice bad" : "notice warn"} aria-label="The rule">
      <p>
        <code>
          <Text value={rule} isWrapped />
        </code>{" "}
        {isBlocked ? "blocked this event" : "would block this event in enforce mode"}
        <InlineCode text={explanation?.means === undefined ? "." : `: ${explanation.means}.`} />
      </p>
      {explanation === undefined ? null : (
        <p>
          <strong>Fix:</strong> <InlineCode text={`${explanation.remedy}.`} />
        </p>
      )}
      <Openings seq={entry.seq} />
    </section>
  );
}

/** The lines that allow the event in the active policy. */
function Openings({ seq }: { readonly seq: number }): ReactNode {
  const { data, problem } = useResource<EntryMeaning>(`/v1/receipts/${seq}/explanation`);
  if (data === undefined) return problem === undefined ? null : <Failure problem={problem} />;
  const meanings = data.named === undefined ? data.rules : [data.named];
  return meanings.map(({ name, openings }) =>
    openings.map(({ about, opening }, at) => (
      <OpeningView key={`${name} ${at}`} about={about ?? "this event"} opening={opening} />
    )),
  );
}

function OpeningView({
  about,
  opening,
}: {
  readonly about: string;
  readonly opening: Opening;
}): ReactNode {
  const subject = <Text value={about} isWrapped />;
  if ("closed" in opening) {
    return (
      <p>
        No line allows {subject}: <InlineCode text={opening.closed} />.
      </p>
    );
  }
  if ("passes" in opening) {
    return (
      <p>
        For {subject}: <InlineCode text={opening.passes} />.
      </p>
    );
  }
  const lines = "policy" in opening ? opening.policy : opening.config;
  return (
    <details className="opening">
      <summary>Lines that allow {subject} for every session</summary>
      <div className="head">
        <span className="small-print">
          {"policy" in opening ? (
            <>
              Add them under <code>rules</code> of the <a href="#/policy">policy</a>. If the block
              exists, add them to it, before the entries of a list.
            </>
          ) : (
            <>
              Add them to <code>countersign.yaml</code>, and restart the gateway.
            </>
          )}
        </span>
        <CopyButton text={lines} what="lines" />
      </div>
      <pre className="wrapped" tabIndex={0} aria-label="Lines to add">
        {lines.split("\n").map(visibleText).join("\n")}
      </pre>
    </details>
  );
}
