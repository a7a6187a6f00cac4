import type { ReactNode } from "react";
import type { Comparison, Effect } from "../api/responses.js";
import { Text } from "../components/text.js";

const MEANS: Readonly<Record<Effect, string>> = {
  looser: "The candidate allows more events and blocks no others.",
  stricter: "The candidate blocks more events and allows no others.",
  both: "The candidate allows some events and blocks others, or the effect is unknown.",
  same: "The candidate allows the same events as the active policy.",
};

const SIGNS: Readonly<Record<Effect, string>> = {
  looser: "↗",
  stricter: "↘",
  both: "⇅",
  same: "=",
};

/** The effect of a candidate in a sentence. */
export function effectSays({ verdict, recorded }: Comparison): string {
  if (recorded === undefined) return MEANS[verdict];
  const { judged, newly_blocked: blocked, newly_allowed: allowed } = recorded;
  return `${MEANS[verdict]} Of the newest ${judged.toLocaleString()} decisions, ${blocked.toLocaleString()} would be newly blocked and ${allowed.toLocaleString()} newly allowed.`;
}

/** The differences between the active policy and a candidate, block by block. */
export function ComparisonResult({ comparison }: { readonly comparison: Comparison }): ReactNode {
  const { verdict, blocks, recorded } = comparison;
  return (
    <div className="compared" role="status">
      <p className="verdict">
        <EffectBadge effect={verdict} /> <strong>{MEANS[verdict]}</strong>
      </p>
      {recorded === undefined ? null : <Recorded recorded={recorded} />}
      {blocks.map(({ block, verdict: ofBlock, changes }) => (
        <section key={block} className="block-diff" aria-label={block}>
          <h3>
            <EffectBadge effect={ofBlock} />{" "}
            <code>
              <Text value={block} />
            </code>
          </h3>
          <ul>
            {changes.map(({ setting, kind, effect, says }) => (
              <li key={`${setting} ${kind}`}>
                <EffectBadge effect={effect} />
                <span>
                  <Text value={setting} isWrapped /> <span className="faint">{kind}</span>
                  <br />
                  <Text value={says} isWrapped />
                </span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Recorded({
  recorded,
}: {
  readonly recorded: NonNullable<Comparison["recorded"]>;
}): ReactNode {
  const { judged, newly_blocked: blocked, newly_allowed: allowed } = recorded;
  return (
    <p>
      Of the newest {judged.toLocaleString()} recorded decisions{" "}
      <strong className="number">{(blocked + allowed).toLocaleString()} would change</strong>:{" "}
      {blocked.toLocaleString()} newly blocked, {allowed.toLocaleString()} newly allowed.{" "}
      <span className="faint">
        Receipts hold no payloads: the gateway compared class, event type and target. Rates
        (velocity, events per second), texts and conditions are left out.
      </span>
    </p>
  );
}

/** The label of an effect, with a sign, so that it does not depend on colour. */
function EffectBadge({ effect }: { readonly effect: Effect }): ReactNode {
  return (
    <span className={`badge ${effect}`}>
      <span aria-hidden="true">{SIGNS[effect]}</span> {effect}
    </span>
  );
}
