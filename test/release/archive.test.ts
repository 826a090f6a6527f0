// test: release
/** Each archive is unpacked and used. */

import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { emulator } from "../../scripts/build/architecture.ts";
import { command } from "../../scripts/build/command.ts";
import { compileFor } from "../../scripts/build/native.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { archives, fileOf, unpack, version } from "./release.ts";

/** The entries at the top of an archive, with their modes, besides the examples and the link. */
const modes: Readonly<Record<string, number>> = {
  "host-local": 0o755,
  LICENSE: 0o644,
  "THIRD-PARTY-NOTICES": 0o644,
  "host-local.8": 0o644,
  "host-local.bash": 0o644,
  "_host-local": 0o644,
  "host-local.fish": 0o644,
};

for (const archive of archives) {
  test(`${archive.name} has a program that runs, with all that belongs to it`, async (t) => {
    const listed = command(["tar", "-tvzf", fileOf(archive.name), "--numeric-owner"]).trim();
    for (const line of listed.split("\n")) t.match(line, /^\S+ 0\/0 /, "it belongs to root");
    const directory = unpack(t, archive);
    const executable = join(directory, "host-local");
    const start = (words: readonly string[], environment = {}) => {
      const [program = "", ...rest] = [...emulator(archive.architecture), executable, ...words];
      return spawnSync(program, rest, {
        encoding: "utf8",
        env: { PATH: process.env.PATH, ...environment },
      });
    };

    const expected = [...Object.keys(modes), "conf-examples", "static"];
    t.strictSame(readdirSync(directory).sort(), expected.sort());
    for (const [name, mode] of Object.entries(modes)) {
      const status = lstatSync(join(directory, name));
      t.ok(status.isFile() && status.size > 0, `${name} is a file`);
      t.equal(status.mode & 0o7777, mode, `the mode of ${name}`);
    }
    t.equal(readlinkSync(join(directory, "static")), "host-local");
    t.match(start(["version"]).stdout, `host-local v${version}\n`);
    const answer = start([], { CNI_COMMAND: "VERSION" }).stdout;
    t.ok(JSON.parse(answer).supportedVersions.includes("1.1.0"), "answers a runtime");
    const notices = readFileSync(join(directory, "THIRD-PARTY-NOTICES"), "utf8");
    for (const work of archive.isPortable
      ? ["node", "ipaddr.js"]
      : ["quickjs", "glibc", "ipaddr.js"]) {
      t.match(notices, new RegExp(`^  ${work} \\S+ \\(`, "m"), `the notices name ${work}`);
    }
    t.strictSame(
      readdirSync(join(directory, "conf-examples")).sort(),
      readdirSync("conf-examples").sort(),
    );
  });
}

for (const { architecture } of archives.filter(({ isPortable }) => !isPortable)) {
  test(`the engine for ${architecture.name} writes the numbers of inodes in decimal`, async (t) => {
    const program = join(scratchDirectory(t), "inode-numbers");
    compileFor(architecture, ["test/release/inode-numbers.c"], program);
    const [command = "", ...words] = [...emulator(architecture), program];
    const { status, stdout } = spawnSync(command, words, { encoding: "utf8" });
    t.equal(status, 0, stdout);
  });
}
