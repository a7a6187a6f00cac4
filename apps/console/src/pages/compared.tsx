import type { ReactNode } from "react";
import type { Comparison, Effect } from "../api/answers.js";
import { Text } from "../components/text.js";

const MEANS: Readonly<Record<Effect, string>> = {
  looser: "More passes than now, nothing less.",
  stricter: "Less passes than now, nothing more.",
  both: "Some things open and others close, or nobody can tell.",
  same: "Nothing else passes than now.",
};

const SIGNS: Readonly<Record<Effect, string>> = {
  looser: "↗",
  stricter: "↘",
  both: "⇅",
  same: "=",
};

/** What lies between the active policy and a candidate, block by block. */
export function Compared({ comparison }: { readonly comparison: Comparison }): ReactNode {
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
        Receipts hold no payloads: class, type and target were judged, not tools, texts and
        conditions.
      </span>
    </p>
  );
}

/** A word for an effect, with a sign, so that it is not told by colour alone. */
function EffectBadge({ effect }: { readonly effect: Effect }): ReactNode {
  return (
    <span className={`badge ${effect}`}>
      <span aria-hidden="true">{SIGNS[effect]}</span> {effect}
    </span>
  );
}
