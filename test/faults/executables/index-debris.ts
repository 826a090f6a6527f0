/** A corrupt, foreign or wrong owner index. */

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { WatchedNetwork } from "./watched-network.ts";

/** A way in which the index is wrong. */
export interface IndexDebris {
  readonly name: string;
  readonly spoil: (network: WatchedNetwork) => void;
}

const HOUR_AGO = Date.now() / 1000 - 3600;

const victimEntry = "victim:eth0";

function replace(path: string, put: (path: string) => void): void {
  rmSync(path, { recursive: true, force: true });
  put(path);
}

/** Replaces an entry, so that the stamp shows it. */
function entry(name: string, text: string): IndexDebris["spoil"] {
  return (network) => replace(network.ownPath(`owners/${name}`), (path) => symlinkSync(text, path));
}

/** Replaces entries in such a way that the stamp does not show it. */
function lie(spoil: IndexDebris["spoil"]): IndexDebris["spoil"] {
  return (network) => {
    spoil(network);
    restamp(network, (counts) => counts);
  };
}

/** Writes a stamp of the directories as they are now, which claims other counts. */
function restamp(network: WatchedNetwork, claim: (counts: string) => string): void {
  const path = network.ownPath("stamp");
  const [version, , , , , , , ...counts] = stampOf(network).split(" ");
  if (version === undefined) return;
  const state = [network.path(""), network.ownPath("owners")].map((directory) => {
    const { ino, mtimeNs, ctimeNs } = lstatSync(directory, { bigint: true });
    return `${ino} ${mtimeNs} ${ctimeNs}`;
  });
  const text = `${version} ${state.join(" ")} ${claim(counts.join(" "))}`;
  replace(path, () => symlinkSync(text, path));
}

function stampOf(network: WatchedNetwork): string {
  try {
    return readlinkSync(network.ownPath("stamp"));
  } catch {
    return "";
  }
}

function stamp(text: string): IndexDebris["spoil"] {
  return (network) => replace(network.ownPath("stamp"), (path) => symlinkSync(text, path));
}

function owners(put: (path: string) => void): IndexDebris["spoil"] {
  return (network) => replace(network.ownPath("owners"), put);
}

/** Foreign files, old enough to be mistaken for leftovers. */
function putForeign(directory: string): void {
  mkdirSync(directory, { recursive: true });
  for (let at = 0; at < 200; at++) {
    const path = join(directory, `foreign-${at}:eth0`);
    writeFileSync(path, "10.0.0.2");
    utimesSync(path, HOUR_AGO, HOUR_AGO);
  }
  mkdirSync(join(directory, "foreign.d:eth0"));
}

/** Where foreign files lie that nothing may touch. */
export function foreignFiles(network: WatchedNetwork): readonly string[] {
  return [network.ownPath("owners"), join(network.directory, "outside")].flatMap((directory) => {
    try {
      return readdirSync(directory)
        .filter((name) => name.startsWith("foreign"))
        .map((name) => join(directory, name));
    } catch {
      return [];
    }
  });
}

export const indexDebris: readonly IndexDebris[] = [
  { name: "gone", spoil: (network) => rmSync(network.ownPath(""), { recursive: true }) },
  {
    name: "owners gone",
    spoil: (network) => rmSync(network.ownPath("owners"), { recursive: true }),
  },
  { name: "owners a file", spoil: owners((path) => writeFileSync(path, "")) },
  { name: "owners a link to nowhere", spoil: owners((path) => symlinkSync("nowhere", path)) },
  { name: "owners a link to itself", spoil: owners((path) => symlinkSync("owners", path)) },
  {
    name: "owners a link to a directory of foreign files",
    spoil: (network) => {
      const outside = join(network.directory, "outside");
      putForeign(outside);
      owners((path) => symlinkSync(outside, path))(network);
    },
  },
  { name: "foreign files in owners", spoil: (network) => putForeign(network.ownPath("owners")) },
  { name: "foreign files, unseen", spoil: lie((network) => putForeign(network.ownPath("owners"))) },
  { name: "the entry gone", spoil: (network) => rmSync(network.ownPath(`owners/${victimEntry}`)) },
  {
    name: "an entry a file",
    spoil: (network) =>
      replace(network.ownPath(`owners/${victimEntry}`), (path) => writeFileSync(path, "10.0.0.2")),
  },
  {
    name: "an entry a directory",
    spoil: (network) =>
      replace(network.ownPath(`owners/${victimEntry}`), (path) =>
        mkdirSync(join(path, "full"), { recursive: true }),
      ),
  },
  { name: "an entry of garbage", spoil: entry(victimEntry, "\u{1f40c} %s ../..") },
  { name: "an entry that leads out", spoil: entry(victimEntry, "../../../etc/passwd /etc/passwd") },
  { name: "an entry with another's addresses", spoil: entry(victimEntry, "10.0.0.2 2001:db8::2") },
  { name: "an entry of `?`", spoil: lie(entry(victimEntry, "?")) },
  {
    name: "an entry that lists more than is held, unseen",
    spoil: lie(
      entry(victimEntry, "../10.0.0.3 10.0.0.2 10.0.0.3 10.0.0.9 2001:db8::2 2001:db8::3 x"),
    ),
  },
  {
    name: "an entry of somebody who holds nothing, unseen",
    spoil: lie(entry("nobody:eth0", "10.0.0.2 10.0.0.3 2001:db8::3")),
  },
  { name: "a legacy entry, unseen", spoil: lie(entry("nobody:", "10.0.0.2 10.0.0.3")) },
  { name: "a long entry, unseen", spoil: lie(entry("nobody:eth0", "10.0.0.2 ".repeat(400))) },
  { name: "an entry being replaced", spoil: entry("new.4194303", "10.0.0.3") },
  { name: "no stamp", spoil: (network) => rmSync(network.ownPath("stamp"), { force: true }) },
  { name: "a stamp of garbage", spoil: stamp("\u{1f40c}") },
  { name: "a stamp of another version", spoil: stamp("9 1 1 1 1 1 1 0 0 settled") },
  { name: "a stamp of other directories", spoil: stamp("2 1 1 1 1 1 1 0 0 settled") },
  {
    name: "a stamp that claims more reservations than there are addresses",
    spoil: (network) => restamp(network, () => "999999999999999 7 settled"),
  },
  {
    name: "a stamp that claims a number of 400 digits",
    spoil: (network) => restamp(network, () => `${"9".repeat(400)} 0 settled`),
  },
  {
    name: "a stamp a file",
    spoil: (network) =>
      replace(network.ownPath("stamp"), (path) => writeFileSync(path, "2 1 1 1 1 1 1 0 0 settled")),
  },
  {
    name: "a stamp a directory",
    spoil: (network) =>
      replace(network.ownPath("stamp"), (path) =>
        mkdirSync(join(path, "full"), { recursive: true }),
      ),
  },
];
