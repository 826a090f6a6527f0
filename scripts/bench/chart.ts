/** The cost of a call over the number of reservations, drawn as SVG for light and dark pages. */

import type { ProgramName } from "./programs.ts";
import {
  describeMachine,
  grouped,
  measurementOf,
  type Results,
  SIZES,
  type Spread,
} from "./results.ts";

/** What is drawn, in the order of the legend. */
const PROGRAMS = ["go", "native", "portable", "empty"] as const satisfies readonly ProgramName[];

type Drawn = (typeof PROGRAMS)[number];

/** A line of a panel: what one program's calls cost at each size. */
interface Curve {
  readonly program: Drawn;
  readonly points: readonly Point[];
}

interface Point extends Spread {
  readonly size: number;
}

/** The times that the vertical axis spans, in milliseconds. */
interface Span {
  readonly lowest: number;
  readonly highest: number;
}

const WIDTH = 880;
const HEIGHT = 440;
const TOP = 112;
const BOTTOM = 366;
const PANEL_WIDTH = 262;
const PANELS = [
  { verb: "ADD", left: 72 },
  { verb: "DEL", left: 496 },
] as const;

/** Where zero stands, which a logarithmic axis does not have, and where the axis goes on. */
const ZERO = 14;
const FIRST = 84;

const LABEL_HEIGHT = 15;

/** The colours on light and on dark pages. Those of text and curves stand out by 4.5 to 1 or more. */
const PALETTE = {
  page: { light: "#ffffff", dark: "#0d1117" },
  ink: { light: "#1f2328", dark: "#f0f6fc" },
  soft: { light: "#59636e", dark: "#9198a1" },
  grid: { light: "#d1d9e0", dark: "#3d444d" },
  faint: { light: "#eff2f5", dark: "#1c2128" },
  go: { light: "#0b6fa4", dark: "#58c4f5" },
  native: { light: "#bc4c00", dark: "#ff9b4a" },
  portable: { light: "#7a3fd1", dark: "#bb95ff" },
  empty: { light: "#6e7781", dark: "#9aa4af" },
} as const;

type Color = keyof typeof PALETTE;

const FONTS = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/** Draws ADD and DEL side by side, both axes logarithmic. */
export function drawChart(results: Results): string {
  const panels = PANELS.map((panel) => ({ ...panel, curves: curvesOf(results, panel.verb) }));
  const span = spanOf(panels.flatMap(({ curves }) => curves));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Wall time of ADD and DEL over the number of live reservations">
<style>
text { font-family: ${FONTS}; font-size: 12px; }
.title { font-size: 16px; }
.title, .strong { font-weight: 600; }
.small { font-size: 11px; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
${rules("light")}
@media (prefers-color-scheme: dark) {
${rules("dark")}
}
</style>
<rect width="${WIDTH}" height="${HEIGHT}" rx="8" class="fill-page"/>
${text(24, 32, "Wall time of one call over live reservations", "ink", "title")}
${text(24, 52, "Medians, with lines from minimum to maximum; both axes are logarithmic", "soft")}
${drawLegend(results)}
${panels.map(({ verb, left, curves }) => drawPanel(verb, left, curves, span)).join("\n")}
${text(24, HEIGHT - 16, describeMachine(results), "soft", "small")}
</svg>
`;
}

function curvesOf(results: Results, verb: string): readonly Curve[] {
  return PROGRAMS.map((program) => ({
    program,
    points: SIZES.flatMap((size) => {
      // The empty program does nothing, whatever it is asked for.
      const call = program === "empty" ? "ADD" : verb;
      const found = measurementOf(results, program, call, size);
      return found === undefined ? [] : [{ size, ...found.time }];
    }),
  }));
}

/** From the last power of ten, or half of one, below all points to the next above. */
function spanOf(curves: readonly Curve[]): Span {
  const points = curves.flatMap((curve) => curve.points);
  const half = Math.log10(5);
  const lowest = Math.log10(Math.min(...points.map(({ minimum }) => minimum)));
  const highest = Math.log10(Math.max(...points.map(({ maximum }) => maximum)));
  const below = Math.floor(lowest);
  const above = Math.floor(highest);
  return {
    lowest: 10 ** (lowest > below + half ? below + half : below),
    highest: 10 ** (highest < above + half ? above + half : above + 1),
  };
}

function drawLegend({ goVersion }: Results): string {
  const entries = {
    go: { left: 24, title: `the Go plugin, ${goVersion}` },
    native: { left: 192, title: "native executable" },
    portable: { left: 352, title: "portable executable" },
    empty: { left: 520, title: "empty program in the portable one's Node.js" },
  };
  return PROGRAMS.map((name) => {
    const { left, title } = entries[name];
    return `<line x1="${left}" y1="76" x2="${left + 20}" y2="76" ${stroke(name)}/>${drawMark(name, left + 10, 76)}${text(left + 27, 80, title)}`;
  }).join("\n");
}

function drawPanel(verb: string, left: number, curves: readonly Curve[], span: Span): string {
  const right = left + PANEL_WIDTH;
  const y = verticalScale(span);
  return `<g>
${text(left, TOP - 8, verb, "ink", "strong")}
${drawTimes(left, right, span)}
${drawSizes(left)}
${curves.map((curve) => drawCurve(curve, left, y)).join("\n")}
${drawLabels(curves, right, y)}
</g>`;
}

/** The horizontal lines: strong at powers of ten, faint at two and five times. */
function drawTimes(left: number, right: number, span: Span): string {
  const y = verticalScale(span);
  const lines: string[] = [];
  for (let power = 10 ** Math.floor(Math.log10(span.lowest)); power <= span.highest; power *= 10) {
    for (const factor of [1, 2, 5]) {
      const time = power * factor;
      if (time < span.lowest * 0.999 || time > span.highest * 1.001) continue;
      const color: Color = factor === 1 ? "grid" : "faint";
      const at = fixed(y(time));
      lines.push(`<line x1="${left}" y1="${at}" x2="${right}" y2="${at}" class="line-${color}"/>`);
      if (factor === 1 || time === span.lowest || time === span.highest) {
        lines.push(text(left - 8, y(time) + 4, formatTick(time), "soft", "end"));
      }
    }
  }
  return lines.join("\n");
}

/** The horizontal axis, broken between zero and the first size. */
function drawSizes(left: number): string {
  const ticks = SIZES.map((size) => {
    const x = fixed(left + horizontal(size));
    return `<line x1="${x}" y1="${BOTTOM}" x2="${x}" y2="${BOTTOM + 5}" class="line-soft"/>${text(Number(x), BOTTOM + 19, grouped(size), "soft", "middle")}`;
  });
  const gap = left + (ZERO + FIRST) / 2;
  return `<line x1="${left}" y1="${BOTTOM}" x2="${left + PANEL_WIDTH}" y2="${BOTTOM}" class="line-soft"/>
<rect x="${gap - 4}" y="${BOTTOM - 6}" width="8" height="12" class="fill-page"/>
<path d="M${gap - 7} ${BOTTOM + 6}l6 -12M${gap + 1} ${BOTTOM + 6}l6 -12" class="line-soft"/>
${ticks.join("\n")}
${text(left + PANEL_WIDTH / 2, BOTTOM + 37, "live reservations", "soft", "middle")}`;
}

function drawCurve({ program, points }: Curve, left: number, y: (time: number) => number): string {
  // A little beside each other, so that spreads do not cover each other.
  const aside = 2 * PROGRAMS.indexOf(program) - 3;
  const places = points.map((point) => ({ ...point, x: left + horizontal(point.size) + aside }));
  const path = places.map(({ x, median }) => `${fixed(x)},${fixed(y(median))}`).join(" ");
  const spreads = places.map(
    ({ x, minimum, maximum }) =>
      `<line x1="${fixed(x)}" y1="${fixed(y(minimum))}" x2="${fixed(x)}" y2="${fixed(y(maximum))}" class="line-${program}" stroke-opacity="0.55"/>`,
  );
  const marks = places.map(({ x, median }) => drawMark(program, x, y(median)));
  return `${spreads.join("")}<polyline points="${path}" ${stroke(program)}/>${marks.join("")}`;
}

/** Names each line at its end, with its last value; labels too close to each other move apart. */
function drawLabels(curves: readonly Curve[], right: number, y: (time: number) => number): string {
  const ends = curves.flatMap(({ program, points }) => {
    const last = points.at(-1);
    return last === undefined ? [] : [{ program, median: last.median, at: y(last.median) + 4 }];
  });
  ends.sort((a, b) => a.at - b.at);
  let free = 0;
  return ends
    .map(({ program, median, at }) => {
      const place = Math.max(at, free);
      free = place + LABEL_HEIGHT;
      const label = `${program === "go" ? "Go" : program} ${formatValue(median)}`;
      return text(right + 8, place, label, program, "strong");
    })
    .join("\n");
}

/** A shape for each program, for those who do not see the colours apart. */
function drawMark(program: Drawn, x: number, y: number): string {
  const [left, top] = [fixed(x), fixed(y)];
  const shapes = {
    go: `<rect x="${fixed(x - 3.5)}" y="${fixed(y - 3.5)}" width="7" height="7"`,
    native: `<circle cx="${left}" cy="${top}" r="4"`,
    portable: `<path d="M${left} ${fixed(y - 5)}l5 5l-5 5l-5 -5z"`,
    empty: `<circle cx="${left}" cy="${top}" r="2.5"`,
  };
  return `${shapes[program]} class="fill-${program}"/>`;
}

function stroke(program: Drawn): string {
  const dashes = program === "empty" ? ' stroke-dasharray="4 3"' : "";
  return `class="line-${program}" stroke-width="${program === "empty" ? 1.5 : 2}"${dashes}`;
}

function verticalScale({ lowest, highest }: Span): (time: number) => number {
  const height = (BOTTOM - TOP) / Math.log(highest / lowest);
  return (time) => BOTTOM - Math.log(time / lowest) * height;
}

/** The distance of a size from the left of its panel. */
function horizontal(size: number): number {
  if (size === 0) return ZERO;
  const [, first, , last] = SIZES;
  return FIRST + ((PANEL_WIDTH - ZERO - FIRST) * Math.log(size / first)) / Math.log(last / first);
}

function formatTick(time: number): string {
  return time < 1000
    ? `${Number(time.toPrecision(2))} ms`
    : `${Number((time / 1000).toPrecision(2))} s`;
}

function formatValue(time: number): string {
  return time < 1000 ? `${time.toFixed(time < 10 ? 1 : 0)} ms` : `${(time / 1000).toFixed(1)} s`;
}

/** Plain classes: not every program that shows SVG knows variables. */
function rules(scheme: "light" | "dark"): string {
  return Object.entries(PALETTE)
    .map(
      ([name, { [scheme]: color }]) =>
        `.fill-${name} { fill: ${color}; } .line-${name} { stroke: ${color}; fill: none; }`,
    )
    .join("\n");
}

/** A line of text, with classes that say how it looks. */
function text(x: number, y: number, content: string, color: Color = "ink", looks = ""): string {
  const escaped = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${fixed(x)}" y="${fixed(y)}" class="fill-${color} ${looks}">${escaped}</text>`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(1)));
}
