// test: each executable
/** list: whatever is named like an address is a reservation, of whatever kind the file is, and however much of it is unusual. */

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { nodeFor } from "../node.ts";

const usual = "c1\r\neth0";

/** What it is that is named like an address, as `owner`, `container` and `interface` of `list --json`. */
const files: Readonly<Record<string, readonly [string, string, string, string?]>> = {
  "198.51.100.2": ["attachment", "c1", "eth0", usual],
  "198.51.100.10": ["attachment", "c_2.x-", "!@~", "c_2.x-\r\n!@~"],
  // Of no documentation: it is behind the others as a text, and as a number with a sign.
  "9.255.255.255": ["attachment", "c1", "eth0", usual],
  "203.0.113.1": ["attachment", "c1", "eth0", usual],
  "198.51.100.3": ["legacy", "c1", "", "c1"],
  "198.51.100.4": ["attachment", "c1", "eth0", `${usual}\n`],
  "198.51.100.5": ["unowned", "", "", ""],
  "198.51.100.6": ["unowned", "", "", "-c\r\neth0"],
  "198.51.100.7": ["unowned", "", "", "c1\r\n.."],
  "198.51.100.8": ["unowned", "", "", "c1\r\n0123456789abcdef"],
  "198.51.100.9": ["unowned", "", "", `${usual}\0`],
  "2001:db8::2": ["attachment", "c1", "eth0", usual],
  "2001:db8::1:0:0:2": ["attachment", "c1", "eth0", usual],
};

test("each file is there once, with its owner and its time, in the order of the addresses", async (t) => {
  const node = nodeFor(t);
  const directory = join(node.dataDir, "net");
  for (const [name, [, , , content = ""]] of Object.entries(files)) {
    node.write(`net/${name}`, content);
    utimesSync(join(directory, name), 1_700_000_000.5, 1_700_000_000.5);
  }
  for (const name of ["198.51.100.03", "198.51.100", "lock", "a b", "198.51.100.256"]) {
    node.write(`net/${name}`, usual);
  }
  node.write("net/198.51.100.11", usual);
  chmodSync(join(directory, "198.51.100.11"), 0o666);
  mkdirSync(join(directory, "198.51.100.12"));
  symlinkSync("198.51.100.2", join(directory, "198.51.100.13"));
  symlinkSync("nothing", join(directory, "198.51.100.14"));
  execFileSync("mkfifo", [join(directory, "198.51.100.15")]);
  const { stdout, stderr } = node.tool(["list", "--json"]);
  const { reservations } = JSON.parse(stdout);
  const told = reservations.map((one: Readonly<Record<string, unknown>>) => [
    String(one.path).slice(directory.length + 1),
    ...[one.owner, one.container, one.interface],
  ]);
  const of = (name: string): readonly unknown[] => [name, ...(files[name] ?? []).slice(0, 3)];
  t.strictSame(told, [
    ...["9.255.255.255", ...[2, 3, 4, 5, 6, 7, 8, 9, 10].map((last) => `198.51.100.${last}`)].map(
      of,
    ),
    ["198.51.100.11", "attachment", "c1", "eth0"],
    ["198.51.100.12", "unowned", "", ""],
    ["198.51.100.13", "attachment", "c1", "eth0"],
    ["198.51.100.14", "unowned", "", ""],
    ["198.51.100.15", "unowned", "", ""],
    of("203.0.113.1"),
    of("2001:db8::2"),
    of("2001:db8::1:0:0:2"),
  ]);
  for (const { path, since } of reservations.slice(0, 10)) {
    t.equal(since, "2023-11-14T22:13:20.500Z", path);
  }
  t.equal(stderr, "");
});
