/**
 * Draws the pictures of docs/pictures, each for a light and a dark page.
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
  readonly faint: string;
  readonly accent: string;
  readonly warning: string;
}

const themes: Readonly<Record<string, Colours>> = {
  light: {
    page: "#ffffff",
    box: "#f6f8fa",
    line: "#8c959f",
    text: "#1f2328",
    faint: "#59636e",
    accent: "#0969da",
    warning: "#9a6700",
  },
  dark: {
    page: "#0d1117",
    box: "#161b22",
    line: "#6e7681",
    text: "#e6edf3",
    faint: "#9198a1",
    accent: "#58a6ff",
    warning: "#d29922",
  },
};

const SANS = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
const MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
/** The width of a character of 14 pixels in these fonts, to which lines of the terminal are stretched. */
const CHARACTER = 8.4;

/** All pictures: path in the repository to content. */
export function pictures(): Readonly<Record<string, string>> {
  const session = sessionOf(readFileSync(join(root, "README.md"), "utf8"));
  return Object.fromEntries(
    Object.entries(themes).flatMap(([theme, colours]) => [
      [`docs/pictures/address-${theme}.svg`, addressPicture(colours)],
      [`docs/pictures/terminal-${theme}.svg`, terminalPicture(colours, session)],
    ]),
  );
}

/** A station on the way of an address. */
interface Station {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly name: string;
  readonly what: readonly string[];
  readonly isOurs?: boolean;
}

const HEIGHT = 96;
const above = 30;
const below = 196;

const stations: readonly Station[] = [
  { left: 16, top: above, width: 164, name: "cluster CIDR", what: ["10.244.0.0/16"] },
  { left: 250, top: above, width: 164, name: "podCIDR", what: ["10.244.3.0/24,", "of one node"] },
  { left: 484, top: above, width: 164, name: "kubelet", what: ["wants a sandbox", "for a pod"] },
  {
    left: 718,
    top: above,
    width: 186,
    name: "runtime",
    what: ["containerd, CRI-O;", "podman by itself"],
  },
  {
    left: 718,
    top: below,
    width: 186,
    name: "main plugin",
    what: ["bridge, ptp, macvlan …", "makes the interface"],
  },
  {
    left: 484,
    top: below,
    width: 164,
    name: "host-local",
    what: ["10.244.3.2", "is the next free one"],
    isOurs: true,
  },
];

/** From the cluster's addresses to the file of one of them. */
function addressPicture(colours: Colours): string {
  const arrows = [
    arrow(colours, [180, 78], [250, 78], "controller"),
    arrow(colours, [414, 78], [484, 78], "Node"),
    arrow(colours, [648, 78], [718, 78], "CRI"),
    arrow(colours, [811, 126], [811, 196], "ADD"),
    arrow(colours, [718, 244], [648, 244], "ADD"),
    arrow(colours, [484, 244], [414, 244], "writes"),
  ];
  return svg(
    { width: 920, height: 312, colours },
    "The way of an address: cluster CIDR, podCIDR, kubelet, runtime, main plugin, host-local, file",
    [...stations.map((station) => box(colours, station)), ...arrows, file(colours)],
  );
}

function box(colours: Colours, { left, top, width, name, what, isOurs }: Station): string {
  const [stroke, weight] = isOurs === true ? [colours.accent, 2.5] : [colours.line, 1];
  const middle = left + width / 2;
  return [
    `<rect x="${left}" y="${top}" width="${width}" height="${HEIGHT}" rx="8" fill="${colours.box}" stroke="${stroke}" stroke-width="${weight}"/>`,
    text(
      {
        x: middle,
        y: top + 32,
        size: 17,
        weight: 600,
        fill: isOurs === true ? colours.accent : colours.text,
      },
      name,
    ),
    ...what.map((line, at) =>
      text({ x: middle, y: top + 58 + 20 * at, size: 14, fill: colours.faint }, line),
    ),
  ].join("\n");
}

/** The reservation, opened: a page whose corner is folded. */
function file(colours: Colours): string {
  const [left, top, right, bottom, fold] = [16, 180, 414, 292, 18];
  const outline = `M${left} ${top} H${right - fold} L${right} ${top + fold} V${bottom} H${left} Z`;
  const corner = `M${right - fold} ${top} V${top + fold} H${right}`;
  const mono = (x: number, y: number, fill: string, line: string) =>
    text({ x: left + x, y: top + y, size: 14, fill, family: MONO, anchor: "start" }, line);
  return [
    `<path d="${outline}" fill="${colours.box}" stroke="${colours.line}"/>`,
    `<path d="${corner}" fill="none" stroke="${colours.line}"/>`,
    mono(18, 28, colours.faint, "/var/lib/cni/networks/mynet/10.244.3.2"),
    `<path d="M${left} ${top + 42} H${right}" stroke="${colours.line}"/>`,
    mono(18, 68, colours.text, "3439fe4605667…"),
    mono(18, 92, colours.text, "eth0"),
    ...[
      { y: 68, what: "container id, CR LF" },
      { y: 92, what: "interface" },
    ].map(({ y, what }) =>
      text({ x: left + 170, y: top + y, size: 14, fill: colours.faint, anchor: "start" }, what),
    ),
  ].join("\n");
}

type Point = readonly [x: number, y: number];

function arrow(colours: Colours, [x1, y1]: Point, [x2, y2]: Point, label: string): string {
  const [dx, dy] = [Math.sign(x2 - x1), Math.sign(y2 - y1)];
  const head = [
    [x2, y2],
    [x2 - 8 * dx - 5 * dy, y2 - 8 * dy - 5 * dx],
    [x2 - 8 * dx + 5 * dy, y2 - 8 * dy + 5 * dx],
  ];
  const [x, y, anchor] =
    dx === 0 ? [x1 + 10, (y1 + y2) / 2 + 4, "start"] : [(x1 + x2) / 2, y1 - 12, "middle"];
  return [
    `<path d="M${x1} ${y1} L${x2 - 6 * dx} ${y2 - 6 * dy}" stroke="${colours.text}" stroke-width="1.5"/>`,
    `<path d="M${head.map((point) => point.join(" ")).join(" L")} Z" fill="${colours.text}"/>`,
    text({ x, y, size: 11.5, fill: colours.faint, anchor: String(anchor) }, label),
  ].join("\n");
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

interface TextStyle {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly fill: string;
  readonly weight?: number;
  readonly family?: string;
  readonly anchor?: string;
}

function text(style: TextStyle, line: string): string {
  const { x, y, size, fill, weight = 400, family = SANS, anchor = "middle" } = style;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-family="${family}" font-size="${size}" font-weight="${weight}" fill="${fill}" xml:space="preserve">${escaped(line)}</text>`;
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
