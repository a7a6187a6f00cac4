import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import UPlot from "uplot";
import { VERDICT_LABELS } from "../api/verdict.js";
import { useFeedStore } from "../feed/feed-context.js";
import type { RateColumns } from "../feed/rate-bins.js";
import { useColours } from "../components/theme.js";

const HEIGHT = 200;
const KINDS = ["allowed", "noted", "blocked"] as const;

/** Decisions by the second, as lines that move once a second. */
export function RateChart(): ReactNode {
  const store = useFeedStore();
  const colours = useColours();
  const place = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState<RateColumns>(() => store.rates.columns(Date.now()));
  const plot = useRef<UPlot>(undefined);
  useEffect(() => {
    const timer = setInterval(() => setColumns(store.rates.columns(Date.now())), 1000);
    return () => clearInterval(timer);
  }, [store]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const chart = new UPlot(optionsOf(element), dataOf(store.rates.columns(Date.now())), element);
    plot.current = chart;
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
  }, [colours, store]);
  useEffect(() => plot.current?.setData(dataOf(columns)), [columns]);
  const last = (kind: (typeof KINDS)[number]): number => columns[kind].at(-1) ?? 0;
  const peak = Math.max(...KINDS.flatMap((kind) => columns[kind]));
  return (
    <figure className="chart">
      <div
        ref={place}
        className="plot"
        role="img"
        aria-label={`Events per second over two minutes. Peak: ${peak}. Last second: ${KINDS.map((kind) => `${last(kind)} ${VERDICT_LABELS[kind]}`).join(", ")}.`}
      />
      <figcaption className="legend">
        {KINDS.map((kind) => (
          <span key={kind}>
            <span className={`swatch ${kind}`} aria-hidden="true" /> {VERDICT_LABELS[kind]}{" "}
            <strong className="number">{last(kind)}</strong>/s
          </span>
        ))}
        <span className="faint">last two minutes</span>
      </figcaption>
    </figure>
  );
}

/** Hours, minutes and seconds in the local zone. */
function timeOf(second: number): string {
  return new Date(second * 1000).toTimeString().slice(0, 8);
}

function dataOf({ seconds, allowed, noted, blocked }: RateColumns): UPlot.AlignedData {
  return [seconds, allowed, noted, blocked];
}

function optionsOf(element: HTMLElement): UPlot.Options {
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
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(5, most * 1.1)] } },
    axes: [
      { ...axis, size: 34, values: (_plot, seconds) => seconds.map(timeOf) },
      { ...axis, size: 44 },
    ],
    series: [
      {},
      ...KINDS.map((kind) => ({
        label: VERDICT_LABELS[kind],
        stroke: colour(kind),
        fill: colour(`${kind}-fill`),
        width: 2,
        points: { show: false },
      })),
    ],
  };
}
