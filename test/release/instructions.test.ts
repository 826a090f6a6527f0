// test: release
/** The commands of docs/install.md for a download, with a good archive, a damaged one, and one for another machine. */

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { shellQuote } from "../../src/cli/output/shell-word.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { type Archive, foreign, nativeFor, noForeign, ownArchive, release } from "./release.ts";

const [, commands = ""] =
  /^```sh\n(archive=[\s\S]*?)^```$/m.exec(readFileSync("docs/install.md", "utf8")) ?? [];

/** A directory with an archive and the sums, and a function that runs the commands in it. */
function download(t: Pick<Test, "teardown">, { name }: Archive) {
  const directory = scratchDirectory(t);
  const [plugins, tools] = [join(directory, "plugins"), join(directory, "tools")];
  for (const path of [plugins, tools]) mkdirSync(path);
  for (const file of [name, "SHA256SUMS"]) copyFileSync(join(release, file), join(directory, file));
  const script = commands
    .replace(/^archive=.*$/m, `archive=${name}`)
    .replace("/opt/cni/bin", shellQuote(plugins))
    .replace("/usr/local/sbin", shellQuote(tools));
  const follow = () => {
    const { status, stdout, stderr } = spawnSync("bash", ["-c", script], {
      cwd: directory,
      encoding: "utf8",
    });
    return { status, said: `${stdout}${stderr}` };
  };
  return { directory, plugin: join(plugins, "host-local"), tools, follow };
}

test("a download is verified and installed", async (t) => {
  const { plugin, tools, follow } = download(t, ownArchive);
  const { status, said } = follow();
  t.equal(status, 0, said);
  t.ok(existsSync(join(tools, "host-local")));
  t.match(said, `${ownArchive.name}: OK`);
  t.ok(existsSync(plugin));
});

test("a damaged download is found, and nothing is installed", async (t) => {
  const { directory, plugin, follow } = download(t, ownArchive);
  truncateSync(join(directory, ownArchive.name), 1000);
  const { status, said } = follow();
  t.equal(status, 1);
  t.match(said, `${ownArchive.name}: FAILED`);
  const unpacked = join(directory, ownArchive.name.replace(/\.tgz$/, ""));
  t.notOk(existsSync(unpacked) || existsSync(plugin), "nothing is unpacked");
});

test("a download for another machine is recognised, and nothing is installed", {
  skip: noForeign,
}, async (t) => {
  const { plugin, follow } = download(t, nativeFor(foreign()));
  const { status, said } = follow();
  t.equal(status, 126);
  t.match(said, "Exec format error");
  t.notOk(existsSync(plugin));
});
