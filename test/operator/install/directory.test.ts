// test: each executable, one if short
/** install without DIR: the plugin directory of the node. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "tap";
import { knownPluginDirectories } from "../../../src/operator/node/plugin-directories.ts";
import { executable } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { tool } from "../../harness/tool.ts";
import { OTHER } from "./plugin-directory.ts";

const covered = ["/opt", "/run"];

/** Covers every plugin directory of this machine by an empty file system. */
const hide = [
  ...covered,
  ...knownPluginDirectories
    .map(({ directory }) => directory)
    .filter((path) => existsSync(path) && !covered.some((top) => path.startsWith(`${top}/`))),
]
  .map((path) => `mount -t tmpfs none '${path}'`)
  .join(" && ");

/** Runs shell commands on a node without plugins; `host-local` is the executable under test. */
function onNode(lines: string): { stdout: string; stderr: string } {
  const { stdout, stderr } = spawnSync(
    "unshare",
    [
      "-m",
      "sh",
      "-c",
      `${hide} && host_local='${executable}'
       plugin() { mkdir -p "$1" && cat >"$1/host-local" && chmod 755 "$1/host-local"; }
       ${lines}`,
    ],
    { encoding: "utf8", env: runtimeEnvironment, input: OTHER },
  );
  return { stdout, stderr };
}

const skip =
  covered.some((top) => executable.startsWith(`${top}/`)) || onNode("echo ok").stdout !== "ok\n"
    ? "No file system can be mounted over the plugin directories here: that takes root."
    : false;

test("the only one with a host-local is taken", { skip }, async (t) => {
  const { stdout, stderr } = onNode(`
    mkdir -p /opt/cni/bin && plugin /run/cni/bin
    $host_local install --yes >/dev/null; echo $?; ls /run/cni/bin /opt/cni/bin`);
  t.equal(stderr, "");
  t.equal(
    stdout,
    "0\n/opt/cni/bin:\n\n/run/cni/bin:\nhost-local\nhost-local.installed\nhost-local.previous\n",
  );
});

test("of several none is taken: they are listed", { skip }, async (t) => {
  const { stdout, stderr } = onNode(`
    plugin /opt/cni/bin; cp -r /opt/cni /run/cni
    $host_local install --yes; echo $?
    $host_local install --uninstall; echo $?
    ls /opt/cni/bin /run/cni/bin`);
  t.equal(stdout, "2\n2\n/opt/cni/bin:\nhost-local\n\n/run/cni/bin:\nhost-local\n");
  t.match(stderr, "there is a host-local in several plugin directories.");
  t.match(stderr, /^ {2}host-local install \/opt\/cni\/bin {4}# containerd/m);
  t.match(stderr, /^ {2}host-local install \/run\/cni\/bin {4}# MicroShift$/m);
  t.match(stderr, /^ {2}host-local install \/run\/cni\/bin --uninstall {4}# MicroShift$/m);
});

test("without any host-local it is /opt/cni/bin", { skip }, async (t) => {
  const { stdout } = onNode(`
    mkdir -p /opt/cni/bin /run/cni/bin
    $host_local install --yes >/dev/null; echo $?; ls /opt/cni/bin /run/cni/bin`);
  t.equal(stdout, "0\n/opt/cni/bin:\nhost-local\nhost-local.installed\n\n/run/cni/bin:\n");
});

test("if there is no /opt/cni/bin either, the error names the directories of the node", {
  skip,
}, async (t) => {
  const empty = onNode(`mkdir -p /run/cni/bin; $host_local install --yes; echo $?`);
  t.match(empty.stdout, /^2$/m);
  t.match(empty.stderr, "there is no directory /opt/cni/bin, and no host-local in another");
  t.match(empty.stderr, /^ {2}host-local install \/run\/cni\/bin {4}# MicroShift$/m);
});

test("an empty DIR is an error", async (t) => {
  const { exitCode, stderr } = tool(["install", "", "--yes"]);
  t.strictSame(
    [exitCode, stderr],
    [
      2,
      "host-local: install: empty operand: expected [DIR]\nRun 'host-local install --help' for usage.\n",
    ],
  );
});
