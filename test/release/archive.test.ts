// test: release
/** Each archive is unpacked and used. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { emulator } from "../../scripts/build/architecture.ts";
import { compileFor } from "../../scripts/build/native.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { run } from "../harness/executable.ts";
import { Mounts, mountObstacle } from "../harness/mounts.ts";
import { runtimeEnvironment } from "../harness/runtime-call.ts";
import { archives, ownArchive, unpack } from "./release.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));

for (const archive of archives) {
  test(`${archive.name} has a program that runs, with all that belongs to it`, async (t) => {
    const directory = unpack(t, archive);
    const start = (words: readonly string[], environment = {}) => {
      const [program = "", ...rest] = [...emulator(archive.architecture), ...words];
      return spawnSync(program, rest, {
        encoding: "utf8",
        env: { PATH: process.env.PATH, ...environment },
      });
    };
    const executable = join(directory, "host-local");

    t.match(start([executable, "version"]).stdout, `host-local v${version}\n`);
    const answer = start([executable], { CNI_COMMAND: "VERSION" }).stdout;
    t.ok(JSON.parse(answer).supportedVersions.includes("1.1.0"), "answers a runtime");
    t.equal(readlinkSync(join(directory, "static")), "host-local");
    const notices = readFileSync(join(directory, "THIRD-PARTY-NOTICES"), "utf8");
    for (const work of archive.isPortable
      ? ["node", "ipaddr.js"]
      : ["quickjs", "glibc", "ipaddr.js"]) {
      t.match(notices, new RegExp(`^  ${work} \\S+ \\(`, "m"), `the notices name ${work}`);
    }
    t.match(readFileSync(join(directory, "host-local.8"), "utf8"), /^\.TH /m);
    t.equal(spawnSync("bash", ["-n", join(directory, "host-local.bash")]).status, 0);
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

test("on a full disk, the program says so and leaves the plugin that is there", {
  skip: mountObstacle() ?? false,
}, async (t) => {
  const executable = join(unpack(t, ownArchive), "host-local");
  const mounts = await Mounts.open((action) => t.teardown(action));
  const plugins = mounts.memory("plugins", "size=64k");
  const other = '#!/bin/sh\necho \'{"supportedVersions":["1.0.0"]}\'\n';
  mkdirSync(plugins, { recursive: true });
  writeFileSync(join(plugins, "host-local"), other, { mode: 0o755 });

  const { exitCode, stderr } = run(executable, {
    environment: runtimeEnvironment,
    stdin: "",
    arguments: ["install", plugins, "--yes"],
  });

  t.equal(exitCode, 2);
  t.match(stderr, /ENOSPC|no space/i);
  t.equal(readFileSync(join(plugins, "host-local"), "utf8"), other);
  t.strictSame(readdirSync(plugins), ["host-local"]);
});
