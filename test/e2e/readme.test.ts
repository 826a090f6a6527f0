// test: each executable, one if short, Go plugin, makes namespaces, mounts
/**
 * The session of docs/leaked-addresses.md, which README.md shows as a picture, on a node that runs only the Go plugin, and the
 * next steps that the page names, as root with the usual `PATH`.
 */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { type Step, sessionOf, stepsOf } from "../../scripts/pages/session.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable } from "../harness/executable.ts";
import { goPlugin, skipWithoutGoPlugin } from "../harness/go-plugin.ts";
import { inRepository } from "../harness/repository.ts";
import { cacheEntry } from "../harness/results-cache.ts";
import { atTerminal, skipWithoutTerminal } from "../harness/terminal.ts";
import type { Host } from "./host.ts";
import { readNetwork } from "./libcni.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const page = readFileSync(inRepository("README.md"), "utf8");
const sessionPage = readFileSync(inRepository("docs/leaked-addresses.md"), "utf8");
const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

/** The pods of the session. */
const pods = [
  { id: "3439fe4605667", pod: "default/web-0", hours: 5, isAlive: true },
  { id: "0019f470c0c31", pod: "default/job-7", hours: 5, isAlive: false },
  { id: "52a3e7b3c4820", pod: "default/db-0", hours: 2, isAlive: true },
];

scenario(
  "README: list, check and gc on a node of the Go plugin print what the page says, and change nothing of it",
  needs,
  async (t, host) => {
    const skip = skipWithoutGoPlugin || skipWithoutTerminal;
    if (skip !== false) {
      t.pass("needs the Go plugin and a terminal", { skip });
      return;
    }
    await prepare(t, host);
    execFileSync("mount", ["-t", "tmpfs", "-o", "mode=755", "tmpfs", "/usr/local/sbin"]);
    const before = filesBelow("/var/lib/cni");

    for (const { command, output } of stepsOf(sessionOf(sessionPage))) {
      const { stdout } = atTerminal(command.split(" ").slice(1), "", {
        COLUMNS: "130",
        NO_COLOR: "1",
      });
      t.equal(withTime(stdout.trimEnd()), withTime(output), command);
      if (command !== "host-local gc")
        t.same(filesBelow("/var/lib/cni"), before, "nothing is written");
    }

    const isNote = (line: string) => line.startsWith("networks/.host-local");
    t.same(
      filesBelow("/var/lib/cni").filter((line) => !isNote(line)),
      before,
      "gc has written nothing but its note",
    );

    const [, ...install] = linesBelow("Install");
    runAsRoot(t, install, [0, 0]);
    // check finds the dead pod, and gc releases nothing.
    const [, checked, collected] = runAsRoot(
      t,
      linesBelow("Try it beside the plugin you have"),
      [0, 1, 1],
    );
    t.match(checked, "10.244.3.3");
    t.match(collected, "10.244.3.3");
    const [networks, holder] = runAsRoot(t, linesBelow("See that it works"), [0, 0]);
    t.match(networks, "10.244.3.0/24");
    t.match(holder, "default/web-0");
    const [, back = ""] = /`(host-local install \S+ --uninstall)`/.exec(page) ?? [];
    t.match(runAsRoot(t, [`${back} --yes`], [0])[0], "Restored");
    t.ok(isSameFile(join(host.pluginDirectory, "host-local"), goPlugin?.path ?? ""));
  },
);

/** The lines of the first block of commands in a section of the page. */
function linesBelow(title: string): readonly string[] {
  const section = page.split(`\n## ${title}\n`)[1] ?? "";
  const [, block = ""] = /^```sh\n(.*?)\n```$/ms.exec(section) ?? [];
  return block.split("\n");
}

/** Runs lines in a clone with the built executable, and returns their outputs; they must end with these codes. */
function runAsRoot(t: Test, lines: readonly string[], codes: readonly number[]): readonly string[] {
  const clone = scratchDirectory(t);
  mkdirSync(join(clone, "dist/native"), { recursive: true });
  copyFileSync(executable, join(clone, "dist/native/host-local"));
  const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  t.equal(lines.length, codes.length);
  return lines.map((line, at) => {
    const { status, stdout, stderr } = spawnSync("sh", ["-c", line], {
      cwd: clone,
      env: { PATH, HOME: clone },
      encoding: "utf8",
    });
    t.equal(status, codes[at], `${line}: ${stderr}`);
    return stdout;
  });
}

function isSameFile(path: string, copy: string): boolean {
  return readFileSync(path).equals(readFileSync(copy));
}

/** Output in which the time of the day is replaced; just before midnight it is printed with a date. */
function withTime(output: Step["output"]): string {
  return output.replaceAll(/(?:[-\d]{10} )?\d\d:\d\d UTC/g, "16:10 UTC");
}

/** Installs the Go plugin, which makes the network of README.md with the pods; one of these then dies without a DEL. */
async function prepare(t: Test, host: Host): Promise<void> {
  const [, configuration = ""] = /^```json\n(.*?)^```$/ms.exec(page) ?? [];
  const network = readNetwork(configuration);
  const plugin = join(host.pluginDirectory, "host-local");
  rmSync(plugin);
  copyFileSync(goPlugin?.path ?? "", plugin);
  host.configure(network);
  mkdirSync("/var/lib/cni/results", { recursive: true });
  for (const { id, pod, hours, isAlive } of pods) {
    const namespace = new Pod(id);
    host.runtime.add(network, namespace);
    const [address] = namespace.addresses();
    const time = new Date(Date.now() - hours * 3_600_000 - 60_000);
    utimesSync(`/var/lib/cni/networks/mynet/${address?.replace(/\/.*/, "")}`, time, time);
    remember(id, pod, namespace.netns);
    if (isAlive) await runIn(t, id);
    else namespace.remove();
  }
}

/** Starts the process of every sandbox, which does nothing. */
async function runIn(t: Test, id: string): Promise<void> {
  const pause = spawn("ip", ["netns", "exec", id, "sh", "-c", "echo; exec sleep infinity"]);
  t.teardown(() => pause.kill("SIGKILL"));
  await once(pause.stdout, "data");
}

/** Writes an attachment into the cache of libcni 1.3. */
function remember(containerId: string, pod: string, netns: string): void {
  const { name, text } = cacheEntry("mynet", containerId, { pod, netns });
  writeFileSync(`/var/lib/cni/results/${name}`, text);
}

/** Every file below a directory with its mode, size, time and content; directories only with their names and modes. */
function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const path = join(directory, name);
      const { mode, mtimeMs } = statSync(path);
      return statSync(path).isFile()
        ? `${name} ${mode} ${mtimeMs} ${readFileSync(path, "latin1")}`
        : `${name} ${mode}`;
    });
}
