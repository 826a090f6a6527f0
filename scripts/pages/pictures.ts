/**
 * Draws the pictures of docs/pictures, but for address-light.svg, which is drawn by hand: the session of
 * docs/leaked-addresses.md in a terminal, the benchmark as a chart, and each picture for a dark page.
 *
 * Usage: `npm run node -- scripts/pages/pictures.ts`, after a change of that picture, of this file or of the session.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wrap } from "../../src/cli/output/wrap.ts";
import { root } from "../build/bundle.ts";
import { benchmarkChart } from "./benchmark-chart.ts";
import { ACCENT, BOX, FAINT, LINE, MONO, OTHER, PAGE, TEXT, WARNING } from "./colours.ts";
import { sessionOf } from "./session.ts";

/** What they are on a dark one. */
const dark: Readonly<Record<string, string>> = {
  [PAGE]: "#0d1117",
  [BOX]: "#161b22",
  [LINE]: "#6e7681",
  [TEXT]: "#e6edf3",
  [FAINT]: "#9198a1",
  [ACCENT]: "#58a6ff",
  [WARNING]: "#d29922",
  [OTHER]: "#3fb950",
};

/** The width of a character of 14 pixels in these fonts, to which lines of the terminal are stretched. */
const CHARACTER = 8.4;

/** The columns of the terminal on a telephone. */
const NARROW = 42;

/** The height of the title bar of the terminal, and of a line. */
const BAR = 34;
const STEP = 20;

/** What is written: path in the repository to content. */
export function pictures(): Readonly<Record<string, string>> {
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const session = sessionOf(read("docs/leaked-addresses.md"));
  const terminal = terminalPicture(session);
  const narrow = terminalPicture(narrowed(session));
  const benchmark = benchmarkChart(read("docs/evidence/benchmark.md"));
  return {
    "docs/pictures/benchmark-light.svg": benchmark,
    "docs/pictures/benchmark-dark.svg": inDark(benchmark),
    "docs/pictures/address-dark.svg": inDark(read("docs/pictures/address-light.svg")),
    "docs/pictures/terminal-light.svg": terminal,
    "docs/pictures/terminal-dark.svg": inDark(terminal),
    "docs/pictures/terminal-narrow-light.svg": narrow,
    "docs/pictures/terminal-narrow-dark.svg": inDark(narrow),
  };
}

function inDark(picture: string): string {
  return picture.replaceAll(/#[0-9a-f]{6}\b/g, (colour) => dark[colour] ?? colour);
}

/** What a telephone can show of the session: the leak, why it is one, and the command that releases it. */
function narrowed(session: readonly string[]): readonly string[] {
  const between = (start: string, end: string): readonly string[] => {
    const from = session.findIndex((line) => line.includes(start));
    const to = session.findIndex((line, at) => at > from && line.includes(end));
    const text = session.slice(from, to).map((line) => line.trim());
    return wrap(text.join(" ").trimEnd().slice(session[from]?.indexOf(start)), NARROW);
  };
  return [
    "$ host-local check",
    ...between("10.244.3.3 is held", "What to do"),
    "",
    "$ host-local gc",
    ...between("dead; released", "3 reservations"),
    "",
    ...between("To release now", "Without --now"),
  ];
}

/** The session in a window, the words that the tool colours in the same colour. */
function terminalPicture(session: readonly string[]): string {
  const columns = Math.max(...session.map((line) => line.length));
  const width = Math.ceil(columns * CHARACTER) + 40;
  const height = BAR + session.length * STEP + 28;
  const buttons = [20, 38, 56].map(
    (x) => `<circle cx="${x}" cy="${BAR / 2}" r="5.5" fill="${LINE}"/>`,
  );
  const lines = session.flatMap((line, at) =>
    line === "" ? [] : [terminalLine(line, BAR + 28 + at * STEP)],
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>host-local at a terminal: a leaked address, and the command that releases it</title>
<rect width="${width}" height="${height}" rx="8" fill="${PAGE}"/>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${BOX}" stroke="${LINE}"/>
<path d="M0 ${BAR} H${width}" stroke="${LINE}"/>
${[...buttons, ...lines].join("\n")}
</svg>
`;
}

function terminalLine(line: string, y: number): string {
  const text = line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const spans = line.startsWith("$ ")
    ? `<tspan fill="${ACCENT}" font-weight="600">${text}</tspan>`
    : text.replace(/^warning\b|(?<=\d[hm] {3})no\b/, `<tspan fill="${WARNING}">$&</tspan>`);
  const length = (line.length * CHARACTER).toFixed(1);
  return `<text x="20" y="${y}" font-family="${MONO}" font-size="14" fill="${TEXT}" xml:space="preserve" textLength="${length}" lengthAdjust="spacingAndGlyphs">${spans}</text>`;
}

/** Writes all of them. */
export function writePictures(): void {
  for (const [path, picture] of Object.entries(pictures()))
    writeFileSync(join(root, path), picture);
}

if (import.meta.main) writePictures();
