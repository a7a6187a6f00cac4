import { useEffect, useRef } from "react";
import type { ReactNode } from "react";
import UPlot from "uplot";
import { VERDICT_LABELS } from "../api/verdict.js";
import { useColours } from "../components/theme.js";
import { peakOf, sumOf } from "../overview/series.js";
import { go, hrefOf } from "../route/route.js";
import type { Period, Series } from "../overview/series.js";

const HEIGHT = 200;
const KINDS = ["allowed", "would_block", "blocked"] as const;

/** Decisions over a period. A click on a bar opens its receipts, and a link opens those of the peak. */
export function HistoryChart({
  series,
  period,
}: {
  readonly series: Series;
  readonly period: Period;
}): ReactNode {
  const colours = useColours();
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(undefined);
  const latest = useRef(series);
  latest.current = series;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = new UPlot(optionsOf(element, period), dataOf(latest.current), element);
    plot.current = chart;
    chart.over.addEventListener("click", ({ offsetX }) => {
      const { seconds } = latest.current;
      const second = chart.posToVal(offsetX, "x");
      const since = seconds.findLast((one) => one <= second);
      if (since !== undefined) go(receiptsOf(since * 1000, since * 1000 + period.bucket));
    });
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
      plot.current = undefined;
    };
    // Colours are read when it is drawn: another theme draws it anew.
  }, [colours, period]);
  useEffect(() => plot.current?.setData(dataOf(series)), [series]);
  const sums = KINDS.map((kind) => [kind, sumOf(series[kind])] as const);
  return (
    <figure className="chart">
      <div
        ref={place}
        className="plot"
        role="img"
        aria-label={`Decisions in the last ${period.title}: ${sums.map(([kind, sum]) => `${sum} ${VERDICT_LABELS[kind]}`).join(", ")}.`}
      />
      <figcaption className="legend">
        {sums.map(([kind, sum]) => (
          <span key={kind}>
            <span className={`swatch ${kind}`} aria-hidden="true" /> {VERDICT_LABELS[kind]}{" "}
            <strong className="number">{sum.toLocaleString()}</strong>
          </span>
        ))}
        <span className="faint">per {widthOf(period)}</span>
        <PeakLink series={series} period={period} />
      </figcaption>
    </figure>
  );
}

/** The bucket with the most violations, as a link to them. */
function PeakLink({
  series,
  period,
}: {
  readonly series: Series;
  readonly period: Period;
}): ReactNode {
  const peak = peakOf(series, period);
  if (peak === undefined) return null;
  const { since, until, violations, decisions, verdict } = peak;
  const [from, end] = [since, until].map((moment) => labelOf(moment / 1000, period));
  return (
    <span className="peak">
      Peak:{" "}
      <a href={receiptsOf(since, until, verdict)}>{from === end ? from : `${from} to ${end}`}</a>,{" "}
      {violations.toLocaleString()} of {decisions.toLocaleString()} decisions in violation
    </span>
  );
}

function receiptsOf(since: number, until: number, verdict = ""): string {
  return hrefOf(["receipts"], { since: String(since), until: String(until), verdict });
}

function widthOf({ bucket }: Period): string {
  if (bucket < 60_000) return `${bucket / 1000} seconds`;
  return bucket < 3_600_000 ? `${bucket / 60_000} minutes` : `${bucket / 3_600_000} hours`;
}

function labelOf(second: number, { milliseconds }: Period): string {
  const moment = new Date(second * 1000);
  const day = `${String(moment.getMonth() + 1).padStart(2, "0")}-${String(moment.getDate()).padStart(2, "0")}`;
  return milliseconds > 86_400_000 ? day : moment.toTimeString().slice(0, 5);
}

/** Stacked: each bar stands on those of the kinds after it, and is drawn before them. */
function dataOf({ seconds, allowed, would_block: would, blocked }: Series): UPlot.AlignedData {
  const violations = would.map((count, at) => count + (blocked[at] ?? 0));
  const all = allowed.map((count, at) => count + (violations[at] ?? 0));
  return [[...seconds], all, violations, [...blocked]];
}

function optionsOf(element: HTMLElement, period: Period): UPlot.Options {
  const style = getComputedStyle(element);
  // As a colour of the element, so that the theme's half of light-dark() is chosen.
  const colour = (name: string): string => {
    element.style.color = `var(--chart-${name})`;
    return style.color;
  };
  const axis = {
    stroke: colour("text"),
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { stroke: colour("grid"), width: 1 },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: Math.max(element.clientWidth, 200),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_plot, first, last) => [first, last + period.bucket / 1000] },
      y: { range: (_plot, _least, most) => [0, Math.max(5, most * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 34,
        space: 64,
        values: (_plot, seconds) => seconds.map((second) => labelOf(second, period)),
      },
      { ...axis, size: 52 },
    ],
    series: [
      {},
      ...KINDS.map((kind) => ({
        label: VERDICT_LABELS[kind],
        fill: colour(kind),
        width: 0,
        points: { show: false },
        ...(UPlot.paths.bars === undefined
          ? {}
          : { paths: UPlot.paths.bars({ size: [0.86, 48], align: 1 }) }),
      })),
    ],
  };
}
