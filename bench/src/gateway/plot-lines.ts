import { drawing, fixed, label, line, ticksTo } from "./plot-frame.js";

/** A point, with the minimum and maximum of the repeats if there were several. */
export type Point = {
  readonly x: number;
  readonly y: number;
  readonly low?: number;
  readonly high?: number;
};

/** A chart of lines; an axis is linear or logarithmic. */
export type Lines = {
  readonly title: string;
  readonly x: { readonly name: string; readonly ticks: readonly number[]; readonly isLog: boolean };
  readonly y: { readonly name: string; readonly isLog: boolean };
  /** `colour` keeps a line recognisable from one chart to the next. */
  readonly lines: readonly {
    readonly name: string;
    readonly colour: number;
    readonly points: readonly Point[];
  }[];
};

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [820, 462, 76, 24, 130, 64];

/** Draws the lines. */
export function drawLines(chart: Lines): string {
  const ys = chart.lines.flatMap(({ points }) => points.map(({ y, high = y }) => high));
  const yTicks = chart.y.isLog
    ? powersAround(
        chart.lines.flatMap(({ points }) => points.map(({ y }) => y)),
        ys,
      )
    : ticksTo(Math.max(...ys));
  const x = axis(chart.x.ticks, chart.x.isLog, LEFT, WIDTH - RIGHT);
  const y = axis(yTicks, chart.y.isLog, HEIGHT - BOTTOM, TOP);

  // Three rows of names have room above.
  const parts = [legendRows(chart.lines)];
  for (const tick of yTicks) {
    parts.push(line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "grid"));
    parts.push(label(LEFT - 8, y(tick) + 4, numeral(tick), { anchor: "end", kind: "quiet" }));
  }
  for (const tick of chart.x.ticks) {
    parts.push(line(x(tick), TOP, x(tick), HEIGHT - BOTTOM, "grid"));
    parts.push(
      label(x(tick), HEIGHT - BOTTOM + 18, numeral(tick), { anchor: "middle", kind: "quiet" }),
    );
  }
  for (const { points, colour } of chart.lines) parts.push(path(points, colour, x, y));
  const middle = (LEFT + WIDTH - RIGHT) / 2;
  parts.push(label(middle, HEIGHT - 20, chart.x.name, { anchor: "middle", kind: "quiet" }));
  const centre = (TOP + HEIGHT - BOTTOM) / 2;
  parts.push(label(20, centre, chart.y.name, { anchor: "middle", kind: "quiet", turn: -90 }));
  return drawing(WIDTH, HEIGHT, chart.title, parts);
}

type Scale = (value: number) => number;

function axis(ticks: readonly number[], isLog: boolean, from: number, to: number): Scale {
  const turn = (value: number): number => (isLog ? Math.log10(value) : value);
  const [first, last] = [turn(ticks[0] ?? 0), turn(ticks.at(-1) ?? 1)];
  return (value) => {
    const share = (turn(value) - first) / (last - first);
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  };
}

function powersAround(low: readonly number[], high: readonly number[]): number[] {
  const positive = low.filter((value) => value > 0);
  const first = Math.floor(Math.log10(Math.min(...positive)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...high))));
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

function path(points: readonly Point[], colour: number, x: Scale, y: Scale): string {
  const at = points.map((point) => `${fixed(x(point.x))},${fixed(y(point.y))}`).join(" ");
  const marks = points
    .filter(({ low, high }) => low !== undefined && high !== undefined)
    .map(
      (point) =>
        line(x(point.x), y(point.low ?? point.y), x(point.x), y(point.high ?? point.y), "whisker") +
        `<circle cx="${fixed(x(point.x))}" cy="${fixed(y(point.y))}" r="4" class="f${colour}"/>`,
    );
  return `<polyline points="${at}" fill="none" stroke-width="2.5" class="s${colour}"/>${marks.join("")}`;
}

function legendRows(lines: Lines["lines"]): string {
  const perRow = 3;
  const patches: string[] = [];
  lines.forEach(({ name, colour }, index) => {
    const left = LEFT + (index % perRow) * 235;
    const baseline = 58 + Math.floor(index / perRow) * 22;
    patches.push(
      `<rect x="${left}" y="${baseline - 10}" width="12" height="12" rx="2" class="f${colour}"/>`,
      label(left + 18, baseline, name),
    );
  });
  return patches.join("\n");
}

function numeral(value: number): string {
  return value >= 1 ? value.toLocaleString("en") : String(Number(value.toPrecision(3)));
}
