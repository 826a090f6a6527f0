// test: native executable, slow
/** The contents of the native executable. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { test } from "tap";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";

/** The size of the Go plugin in containernetworking-plugins 1.9.1 for amd64, in bytes. */
const GO_PLUGIN_SIZE = 3_025_048;

/** The segments of the executable: type and flags, such as `LOAD` and `R E`. */
function segments(): readonly { readonly type: string; readonly flags: string }[] {
  const headers = readelf("--program-headers");
  return [...headers.matchAll(/^ {2}([A-Z_]+) +(?:0x[0-9a-f]+ +){5}([RWE ]{3})/gm)].map(
    ([, type = "", flags = ""]) => ({ type, flags }),
  );
}

function readelf(...options: readonly string[]): string {
  return spawnSync("readelf", ["--wide", ...options, executable], { encoding: "utf8" }).stdout;
}

test("it is static, loads nothing, and carries no path of the machine that built it", async (t) => {
  t.ok(segments().some(({ type }) => type === "LOAD"));
  t.notMatch(readelf("--program-headers", "--dynamic"), /INTERP|NEEDED/);
  t.notOk(readFileSync(executable).includes(process.cwd()));
});

test("no memory is writable and executable, and what the linker resolves is read-only afterwards", async (t) => {
  const flagsOf = (wanted: string): readonly string[] =>
    segments().flatMap(({ type, flags }) => (type === wanted ? [flags] : []));
  t.notMatch(flagsOf("LOAD").join(), /WE/);
  t.same(flagsOf("GNU_STACK"), ["RW "]);
  t.same(flagsOf("GNU_RELRO"), ["R  "]);
  t.notMatch(
    readelf("--sections"),
    /\.got\.plt/,
    "all resolved addresses are in the part for GNU_RELRO",
  );
  t.notMatch(readelf("--dynamic"), /TEXTREL/);
});

test("it is at most 0.85 times as large as the Go plugin", async (t) => {
  const goPlugin = inRepository("build/go-plugins/usr/lib/cni/host-local");
  const size = existsSync(goPlugin) ? statSync(goPlugin).size : GO_PLUGIN_SIZE;
  t.ok(statSync(executable).size <= 0.85 * size, `${statSync(executable).size} of ${size} bytes`);
});
