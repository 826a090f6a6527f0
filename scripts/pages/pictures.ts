/**
 * Draws the terminal of docs/pictures, for a light and a dark page.
 *
 * Usage: `npx node scripts/pages/pictures.ts`, after a change of this file or of the session in README.md.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../build/bundle.ts";
import { sessionOf } from "./session.ts";

/** The colours of a page, with enough contrast for small text. */
interface Colours {
  readonly page: string;
  readonly box: string;
  readonly line: string;
  readonly text: string;
  readonly accent: string;
  readonly warning: string;
}

const themes: Readonly<Record<string, Colours>> = {
  light: {
    page: "#ffffff",
    box: "#f6f8fa",
    line: "#8c959f",
    text: "#1f2328",
    accent: "#0969da",
    warning: "#9a6700",
  },
  dark: {
    page: "#0d1117",
    box: "#161b22",
    line: "#6e7681",
    text: "#e6edf3",
    accent: "#58a6ff",
    warning: "#d29922",
  },
};

const MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
/** The width of a character of 14 pixels in this font, to which lines of the terminal are stretched. */
const CHARACTER = 8.4;

/** Both pictures: path in the repository to content. */
export function pictures(): Readonly<Record<string, string>> {
  const session = sessionOf(readFileSync(join(root, "README.md"), "utf8"));
  return Object.fromEntries(
    Object.entries(themes).map(([theme, colours]) => [
      `docs/pictures/terminal-${theme}.svg`,
      terminalPicture(colours, session),
    ]),
  );
}

/** The session of README.md in a window, the words that the tool colours in the same colour. */
function terminalPicture(colours: Colours, session: readonly string[]): string {
  const columns = Math.max(...session.map((line) => line.length));
  const bar = 34;
  const step = 20;
  const width = Math.ceil(columns * CHARACTER) + 40;
  const height = bar + session.length * step + 28;
  const lines = session.map((line, at) => terminalLine(colours, line, bar + 28 + at * step));
  return svg({ width, height, colours }, "host-local list, check and gc at a terminal", [
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colours.box}" stroke="${colours.line}"/>`,
    `<path d="M0 ${bar} H${width}" stroke="${colours.line}"/>`,
    ...[20, 38, 56].map(
      (x) => `<circle cx="${x}" cy="${bar / 2}" r="5.5" fill="${colours.line}"/>`,
    ),
    ...lines,
  ]);
}

function terminalLine(colours: Colours, line: string, y: number): string {
  if (line === "") return "";
  const isCommand = line.startsWith("$ ");
  const spans = isCommand
    ? `<tspan fill="${colours.accent}" font-weight="600">${escaped(line)}</tspan>`
    : escaped(line).replace(
        /^warning\b|(?<=\d[hm] {3})no\b/,
        `<tspan fill="${colours.warning}">$&</tspan>`,
      );
  const length = (line.length * CHARACTER).toFixed(1);
  return `<text x="20" y="${y}" font-family="${MONO}" font-size="14" fill="${colours.text}" xml:space="preserve" textLength="${length}" lengthAdjust="spacingAndGlyphs">${spans}</text>`;
}

function svg(
  {
    width,
    height,
    colours,
  }: { readonly width: number; readonly height: number; readonly colours: Colours },
  title: string,
  parts: readonly string[],
): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="8" fill="${colours.page}"/>
${parts.filter((part) => part !== "").join("\n")}
</svg>
`;
}

function escaped(line: string): string {
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

if (import.meta.main) {
  mkdirSync(join(root, "docs", "pictures"), { recursive: true });
  for (const [path, picture] of Object.entries(pictures()))
    writeFileSync(join(root, path), picture);
}
