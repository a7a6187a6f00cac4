import {
  FIRST_COLOUR,
  drawing,
  fixed,
  label,
  legend,
  line,
  readable,
  ticksTo,
} from "./plot-frame.js";
import type { Spread } from "./statistics.js";

/** A chart of horizontal bars: the median of the repeats, with whiskers from minimum to maximum. */
export type Bars = {
  readonly title: string;
  readonly axis: string;
  readonly series: readonly string[];
  readonly rows: readonly { readonly label: string; readonly values: readonly Spread[] }[];
};

const [WIDTH, LEFT, RIGHT, TOP, BAR] = [820, 210, 110, 82, 16];

/** Draws the bars. */
export function drawBars({ title, axis, series, rows }: Bars): string {
  const rowHeight = series.length * (BAR + 3) + 14;
  const bottom = TOP + rows.length * rowHeight;
  const highest = rows.flatMap(({ values }) => values.map(({ high }) => high));
  const most = Math.max(0, ...highest.filter((value) => !Number.isNaN(value)));
  const ticks = ticksTo(most);
  const scale = (WIDTH - LEFT - RIGHT) / (ticks.at(-1) ?? 1);
  const place = (value: number): number => LEFT + Math.max(0, value) * scale;

  const parts = [legend(LEFT, 58, series)];
  for (const tick of ticks) {
    parts.push(line(place(tick), TOP, place(tick), bottom, "grid"));
    parts.push(
      label(place(tick), bottom + 18, readableTick(tick), { anchor: "middle", kind: "quiet" }),
    );
  }
  rows.forEach((row, index) => {
    const top = TOP + index * rowHeight + 7;
    parts.push(label(LEFT - 12, top + (rowHeight - 14) / 2 + 4, row.label, { anchor: "end" }));
    row.values.forEach((spread, colour) => {
      if (Number.isNaN(spread.middle)) return;
      parts.push(bar(spread, top + colour * (BAR + 3), colour, place));
    });
  });
  parts.push(
    label((LEFT + WIDTH - RIGHT) / 2, bottom + 40, axis, { anchor: "middle", kind: "quiet" }),
  );
  return drawing(WIDTH, bottom + 56, title, parts);
}

function bar(
  spread: Spread,
  top: number,
  colour: number,
  place: (value: number) => number,
): string {
  const middle = top + BAR / 2;
  const [low, high] = [place(spread.low), place(spread.high)];
  const width = Math.max(1, place(spread.middle) - place(0));
  return [
    `<rect x="${fixed(place(0))}" y="${fixed(top)}" width="${fixed(width)}" height="${BAR}" class="f${colour + FIRST_COLOUR}"/>`,
    line(low, middle, high, middle, "whisker"),
    line(low, middle - 4, low, middle + 4, "whisker"),
    line(high, middle - 4, high, middle + 4, "whisker"),
    label(Math.max(high, place(spread.middle)) + 8, middle + 4, readable(spread.middle)),
  ].join("");
}

function readableTick(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toFixed(3)));
}
