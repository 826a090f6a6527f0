// test: native executable, makes namespaces, mounts
/** Whether the plugin that was installed is still in the plugin directory. */

import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { Test } from "tap";
import { scenario } from "../../e2e/scenario.ts";
import { runAsPrinted, tool } from "../../harness/tool.ts";
import { type Node, nodeFor, type PrintedFinding } from "../node.ts";

const needs = { plugins: [], cniVersion: "1.0.0" };

const TARGET = "/opt/cni/bin/host-local";
const STATIC = "/opt/cni/bin/static";

/** Another plugin, which describes itself as the Go plugin does. */
const OTHER = `#!/bin/sh
if [ "$CNI_COMMAND" = VERSION ]; then echo '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'
else echo 'CNI host-local plugin v1.1.1' >&2; fi
`;

function findingsOf(node: Node): readonly PrintedFinding[] {
  return node.findings().filter(({ code }) => code === "plugin-replaced");
}

function install(t: Test, ...words: readonly string[]): void {
  t.match(tool(["install", "/opt/cni/bin", "--yes", ...words]), { exitCode: 0 });
}

function overwrite(): void {
  rmSync(TARGET, { force: true });
  writeFileSync(TARGET, OTHER, { mode: 0o755 });
}

scenario("a replaced plugin is an error where only this one works", needs, (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.219.9.0/24", exclude: ["10.219.9.9"] });
  overwrite();
  install(t);
  overwrite();

  const [finding] = findingsOf(node);
  t.match(finding, { severity: "error", path: TARGET });
  t.match(finding?.message, /net\.conf \(network net\) has exclude: /);
});

scenario("an installer that overwrites the plugin is noticed", needs, (t) => {
  const node = nodeFor(t);
  const found = (): readonly PrintedFinding[] => findingsOf(node);
  overwrite();
  t.same(found(), [], "this program was never installed");

  install(t);
  t.same(found(), []);

  overwrite();
  t.match(found(), [{ code: "plugin-replaced", severity: "warning", path: TARGET }]);
  t.match(node.tool(["check"]), { exitCode: 1, stdout: /was replaced by another one/ });

  const [command = ""] = found()[0]?.commands ?? [];
  t.equal(command, "host-local install /opt/cni/bin");
  t.match(runAsPrinted(t, command), { exitCode: 1, stdout: /will be installed/ });
  t.match(runAsPrinted(t, `${command} --yes`), { exitCode: 0 });
  t.same(found(), []);

  install(t, "--uninstall");
  t.same(found(), [], "the other plugin is back because that was asked for");

  install(t);
  rmSync(TARGET);
  t.match(node.tool(["check"]), { exitCode: 1, stdout: /was removed/ });
});

scenario("what has taken its place is known by its description, and not started", needs, (t) => {
  const node = nodeFor(t);
  install(t);
  for (const [text, count] of [
    ["another plugin", 1],
    ["With arguments it is a tool for operators: host-local", 0],
  ] as const) {
    rmSync(TARGET);
    writeFileSync(TARGET, `#!/bin/sh\n# ${text}\ntouch /started\n`, { mode: 0o755 });
    t.equal(findingsOf(node).length, count, text);
    t.notOk(existsSync("/started"));
  }
});

scenario("the copy static is noticed, too, when another plugin takes its place", needs, (t) => {
  const node = nodeFor(t);
  rmSync(STATIC, { force: true });
  install(t, "--as", "static");
  t.same(findingsOf(node), []);

  rmSync(STATIC);
  writeFileSync(STATIC, OTHER, { mode: 0o755 });
  const command = "host-local install /opt/cni/bin --as static";
  t.match(findingsOf(node), [{ path: STATIC, commands: [command] }]);

  t.match(runAsPrinted(t, `${command} --yes`), { exitCode: 0 });
  t.same(findingsOf(node), []);
});
