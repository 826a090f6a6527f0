/** The times of an ADD in docs/evidence/benchmark.md as a chart with logarithmic axes. */

import { ACCENT, FAINT, LINE, MONO, OTHER, PAGE, TEXT, WARNING } from "./colours.ts";

/** The lines: which column of the table, in rows of which beginning. */
const lines = [
  { name: "Go", column: "Go", row: "ADD", colour: WARNING },
  { name: "portable", column: "portable", row: "ADD", colour: FAINT },
  { name: "native, after an external write", column: "native", row: "external", colour: OTHER },
  { name: "native", column: "native", row: "ADD", colour: ACCENT },
] as const;

/** Numbers of reservations; an empty network stands at 1, since a logarithmic axis has no 0. */
const counts = [0, 250, 10_000, 60_000] as const;
const ticks = [1, 10, 100, 1000] as const;

const LEFT = 70;
const RIGHT = 600;
const TOP = 70;
const BOTTOM = 350;

/**
 * Draws the chart.
 *
 * @param page docs/evidence/benchmark.md
 */
export function benchmarkChart(page: string): string {
  const [head = [], ...rows] = (page.match(/^\|.*\|$/gm) ?? []).map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
  const time = (title: RegExp, column: string): number => {
    const at = head.findIndex((cell) => cell.startsWith(column));
    const text = rows.find(([first = ""]) => title.test(first))?.[at] ?? "";
    return Number(text.replaceAll(" ", ""));
  };
  const drawn = lines.flatMap(({ name, column, row, colour }, at) => {
    const begin = row === "ADD" ? "ADD" : "ADD after an? (?:foreign|external) write";
    const points = counts.map((count): readonly [number, number] => {
      const rest = count === 0 ? "" : ` at ${count.toLocaleString("en").replace(",", " ")}`;
      return [xOf(count), yOf(time(new RegExp(`^${begin}${rest}$`), column))];
    });
    const path = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    const dots = points.map(
      ([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="4" fill="${colour}"/>`,
    );
    const [x, y] = [LEFT + Math.floor(at / 2) * 150, 30 + (at % 2) * 20];
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2.5"/>`,
      ...dots,
      `<circle cx="${x}" cy="${y - 5}" r="5" fill="${colour}"/>`,
      text(x + 12, y, "start", name, TEXT),
    ];
  });
  const grid = ticks.flatMap((tick) => [
    `<path d="M${LEFT} ${yOf(tick).toFixed(1)} H${RIGHT}" stroke="${LINE}" stroke-opacity="0.4"/>`,
    text(LEFT - 8, yOf(tick) + 5, "end", `${tick} ms`, FAINT),
  ]);
  const labels = counts.map((count) =>
    text(xOf(count), BOTTOM + 22, "middle", count.toLocaleString("en").replace(",", " "), FAINT),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="410" viewBox="0 0 640 410" role="img">
<title>Time of an ADD by the number of reservations: Go plugin, portable, native, and native after an external write</title>
<rect width="640" height="410" rx="8" fill="${PAGE}"/>
${[...grid, ...labels, ...drawn].join("\n")}
${text((LEFT + RIGHT) / 2, BOTTOM + 46, "middle", "reservations in the network", FAINT)}
</svg>
`;
}

function xOf(count: number): number {
  return LEFT + 20 + (Math.log10(Math.max(count, 1)) / Math.log10(60_000)) * (RIGHT - LEFT - 50);
}

function yOf(milliseconds: number): number {
  return BOTTOM - (Math.log10(milliseconds) / 3) * (BOTTOM - TOP);
}

function text(x: number, y: number, anchor: string, words: string, colour: string): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-family="${MONO}" font-size="14" fill="${colour}">${words}</text>`;
}
