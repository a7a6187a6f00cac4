import { useMemo } from "react";
import type { ReactNode } from "react";
import type { Entry } from "../api/responses.js";
import { VERDICT_LABELS, verdictOfEntry } from "../api/verdict.js";
import type { Verdict } from "../api/verdict.js";
import { go, hrefOf } from "../route/route.js";
import { gapOf } from "../components/format-time.js";
import { LANES, layOut, STEP } from "./lanes.js";
import type { Placed } from "./lanes.js";

const LANE = 30;
const TOP = 22;

/** The receipts of a run as a picture: a lane for each kind, from left to right as they came. A table says the same in words. */
export function Timeline({ entries }: { readonly entries: readonly Entry[] }): ReactNode {
  const { placed, gaps, width } = useMemo(() => layOut(entries), [entries]);
  const height = TOP + LANES.length * LANE;
  const blocked = placed.filter(({ entry }) => verdictOfEntry(entry) === "blocked").length;
  return (
    <div className="timeline">
      <ul className="lane-names" aria-hidden="true">
        {LANES.map((lane) => (
          <li key={lane}>{lane}</li>
        ))}
      </ul>
      <div
        className="timeline-scroll"
        tabIndex={0}
        role="group"
        aria-label="Timeline, scrolls sideways"
      >
        <svg
          width={Math.max(width + 12, 100)}
          height={height}
          role="img"
          aria-label={`${placed.length} receipts in order, ${blocked} blocked, ${gaps.length} gaps. The table below lists them.`}
        >
          {LANES.map((lane, at) => (
            <rect
              key={lane}
              className="lane"
              x={0}
              y={TOP + at * LANE + 3}
              width="100%"
              height={LANE - 6}
              rx={4}
            />
          ))}
          {gaps.map((gap) => (
            <g key={gap.x}>
              <rect className="gap" x={gap.x + 4} y={TOP} width={56} height={height - TOP} rx={4} />
              <text className="gap-text" x={gap.x + 32} y={14} textAnchor="middle">
                {gapOf(gap.milliseconds)}
              </text>
            </g>
          ))}
          {placed.map((one) => (
            <Tick key={one.entry.seq} placed={one} />
          ))}
        </svg>
      </div>
      <p className="legend timeline-legend">
        {(["allowed", "would_block", "blocked"] as const).map((verdict) => (
          <span key={verdict}>
            <span className={`swatch ${verdict}`} aria-hidden="true" /> {VERDICT_LABELS[verdict]}
          </span>
        ))}
        <span className="faint">oldest on the left; click to open a receipt</span>
      </p>
    </div>
  );
}

function Tick({ placed: { entry, lane, x } }: { readonly placed: Placed }): ReactNode {
  const verdict: Verdict = verdictOfEntry(entry);
  const y = TOP + LANES.indexOf(lane) * LANE;
  return (
    <g className={`tick ${verdict}`} onClick={() => go(hrefOf(["receipts", entry.seq]))}>
      <rect x={x + 1} y={y + 5} width={STEP - 3} height={LANE - 10} rx={2.5} />
      {verdict === "blocked" ? (
        <path d={`M${x + 3} ${y + 12}l5 6m0-6l-5 6`} className="cross" />
      ) : null}
    </g>
  );
}
