// test: native executable, slow, makes namespaces, mounts
/**
 * Every command that a message or a document prints runs as printed: on a node with the networks of the documents, where
 * the programs of others are stubs.
 */

import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { commands } from "../../src/commands.ts";
import { nodesJson } from "../cluster/node-texts.ts";
import { scenario } from "../e2e/scenario.ts";
import { executable, run } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { cacheEntry } from "../harness/results-cache.ts";
import { attachmentCall, configuration } from "../harness/runtime-call.ts";
import { tool } from "../harness/tool.ts";
import { commandsInMessage, commandsInPage } from "./printed-commands.ts";

const CONFIGURATIONS = "/etc/cni/net.d";
const NETWORKS = "/var/lib/cni/networks";
const RESULTS = "/var/lib/cni/results";
const PROGRAMS = "/run/programs";
const WORK = "/run/work";
const RECORD = "/run/exit-codes";

/** The exit code of `timeout`, by which an agent ends here. */
const ENDED = "124";

const pages = [
  ...["README.md", "conf-examples/README.md", "docs/addresses.md", "docs/agent.md"],
  ...["docs/cleanup-scripts.md", "docs/cluster-cidr.md", "docs/install.md"],
  ...["docs/leaked-addresses.md", "docs/metrics.md", "docs/operations.md", "docs/scheduling.md"],
];

const sandboxes = { web: "4f1d6e0c8b7a".padEnd(64, "1"), db: "52a3e7b3c482".padEnd(64, "2") };

/** What a script prints as the program of another; `*` is everything else. */
const stubs: Readonly<Record<string, string>> = {
  crictl: `case "$*" in "pods -q") printf '%s\n' ${Object.values(sandboxes).join(" ")} ;; esac`,
  podman: `case "$1 $2" in "unshare --rootless-netns") shift 2; exec "$@" ;; *) echo ${sandboxes.web} ;; esac`,
  ctr: `case "$*" in "namespaces ls -q") echo default ;; *) echo web ;; esac`,
  kubectl: `case "$*" in *"get node"*json*) cat ${WORK}/nodes.json ;; *"get node"*) cat ${WORK}/node.yaml ;; esac`,
  ...Object.fromEntries(
    ["ssh", "sudo", "systemctl", "curl", "man", "dmesg"].map((name) => [name, "cat"]),
  ),
};

/** Puts the programs in place: the stubs, and the tool, whose exit codes are recorded. */
function installPrograms(): void {
  mkdirSync(PROGRAMS);
  coverTargets();
  const script = (name: string, text: string): void => {
    writeFileSync(join(PROGRAMS, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  for (const [name, text] of Object.entries(stubs)) script(name, text);
  script(
    "host-local",
    `case " $* " in " agent "*) set -- timeout 1 '${executable}' "$@" ;; *) set -- '${executable}' "$@" ;; esac
"$@"
code=$?
echo "$code" >> ${RECORD}
exit $code`,
  );
}

/** The directories outside those of a scenario that lines write to. */
const targets = [
  "/usr/local/share/man/man8",
  "/usr/share/zsh/vendor-completions",
  "/usr/share/fish/vendor_completions.d",
  "/etc/bash_completion.d",
  "/var/lib/prometheus/node-exporter",
  "/etc/kubernetes/node-feature-discovery/features.d",
];

/** Keeps what lines write below `/usr` in memory. */
function coverTargets(): void {
  const [upper, work] = ["/run/usr/upper", "/run/usr/work"];
  for (const path of [upper, work]) mkdirSync(path ?? "", { recursive: true });
  const options = `lowerdir=/usr,upperdir=${upper},workdir=${work}`;
  execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, "/usr"]);
  for (const path of targets) mkdirSync(path, { recursive: true });
}

/** Installs the tool as a plugin in one directory, with a previous plugin, and in no other. */
function installPlugins(directory: string): void {
  for (const other of ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"]) {
    for (const name of ["host-local", "host-local.installed", "host-local.previous", "static"]) {
      rmSync(join(other, name), { force: true });
    }
  }
  mkdirSync(directory, { recursive: true });
  for (const name of ["host-local", "host-local.previous"]) {
    copyFileSync(join(PROGRAMS, "host-local"), join(directory, name));
  }
}

/** A node with two networks, each with two containers. */
function makeNode(): void {
  for (const path of [
    CONFIGURATIONS,
    NETWORKS,
    join(NETWORKS, ".host-local"),
    RESULTS,
    WORK,
    "/opt/cni",
  ]) {
    rmSync(path, { recursive: true, force: true });
  }
  for (const path of [CONFIGURATIONS, RESULTS]) mkdirSync(path, { recursive: true });
  for (const directory of [".", "dist", "dist/native", "host-local-linux-amd64-v1.0.0"]) {
    mkdirSync(join(WORK, directory), { recursive: true });
    symlinkSync(join(PROGRAMS, "host-local"), join(WORK, directory, "host-local"));
  }
  installPlugins("/opt/cni/bin");
  const nodes = [
    { name: "node-1", podCidrs: ["10.244.0.0/24"] },
    { name: "node-2", podCidrs: ["10.244.0.0/24"] },
  ];
  writeFileSync(join(WORK, "nodes.json"), nodesJson(nodes));
  for (const name of ["live-ids", "file"]) {
    writeFileSync(join(WORK, name), Object.values(sandboxes).join("\n"));
  }
  network("mynet", "10.244.3.0/24", "10.244.3.17", "10.244.3.18");
  network("podman", "10.88.0.0/24", "10.88.0.7", "10.88.0.8");
}

/** Configures a network, in which both pods have an address. */
function network(name: string, subnet: string, web: string, db: string): void {
  const document = { ...configuration(NETWORKS, { subnet }, { name }), bridge: "cni0" };
  writeFileSync(join(CONFIGURATIONS, `${name}.conf`), JSON.stringify(document));
  for (const [containerId, address, pod] of [
    [sandboxes.web, web, "default/web"],
    [sandboxes.db, db, "default/web-7d4b9c"],
  ] as const) {
    reserve(`${name}/${address}`, containerId);
    const entry = cacheEntry(name, containerId, { pod });
    writeFileSync(join(RESULTS, entry.name), entry.text);
  }
}

/** Writes the file of a reservation, an hour old. */
function reserve(path: string, containerId: string): void {
  const target = join(NETWORKS, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${containerId}\r\neth0`, { mode: 0o600 });
  const old = new Date(Date.now() - 3_600_000);
  utimesSync(target, old, old);
}

/** What went wrong when a line was run: nothing where it is a command that the programs understand. */
function faultOf(line: string): string | undefined {
  rmSync(RECORD, { force: true });
  const { status, stderr } = spawnSync("bash", ["-c", line], {
    cwd: WORK,
    env: { PATH: `${PROGRAMS}:${process.env.PATH}`, HOME: WORK, TERM: "dumb" },
    encoding: "utf8",
    input: nodesJson([{ name: "node-1", podCidrs: ["10.244.0.0/24"] }]),
    timeout: 60_000,
  });
  const codes = existsSync(RECORD) ? readFileSync(RECORD, "utf8").trim().split("\n") : [];
  const isRun = codes.length > 0 || !/\bhost-local [a-z]/.test(line);
  const isUnderstood =
    isRun &&
    status !== null &&
    status < 126 &&
    codes.every((one) => one === "0" || one === "1" || one === ENDED) &&
    !/syntax error|unexpected EOF/.test(stderr);
  return isUnderstood ? undefined : `${line}\n${status} [${codes}] ${stderr}`;
}

/** Runs each line on a node that nothing has changed. */
function requireUnderstood(t: Test, lines: readonly string[], prepare = makeNode): void {
  for (const line of new Set(lines)) {
    prepare();
    const [directory] = /\/usr\/lib(?:exec)?\/cni/.exec(line) ?? [];
    if (directory !== undefined) installPlugins(directory);
    const fault = faultOf(line);
    t.equal(fault, undefined, fault ?? line);
  }
}

/** What is asked in one scenario, one after the other: namespaces take longer than most of it. */
const parts: (readonly [name: string, body: (t: Test) => void])[] = [];

function part(name: string, body: (t: Test) => void): void {
  parts.push([name, body]);
}

part("the examples in the help run as printed", (t) => {
  const examples = commands.flatMap((command) => command.examples.map(({ line }) => line));
  requireUnderstood(t, examples);
});

for (const page of pages) {
  part(`the commands in ${page} run as printed`, (t) => {
    const lines = commandsInPage(readFileSync(inRepository(page), "utf8"));
    t.ok(lines.length > 0);
    requireUnderstood(t, lines);
  });
}

/** A node with a full range, dead containers, and a network that is no longer configured. */
function makeSickNode(): void {
  makeNode();
  network("full", "10.77.0.0/29", "10.77.0.2", "10.77.0.3");
  for (const last of [4, 5, 6]) reserve(`full/10.77.0.${last}`, `gone${last}`);
  reserve("mynet/10.99.0.1", "outside");
  reserve("former/10.244.3.17", "former");
}

part("the commands in the errors of a full range and of a repeated ADD run as printed", (t) => {
  const dataDir = "/run/pod networks";
  const top = { name: "full", cniVersion: "1.0.0" };
  const document = configuration(dataDir, { subnet: "10.77.0.0/30" }, top);
  const add = (containerId: string) =>
    run(executable, attachmentCall("ADD", { containerId }, document)).stdout;
  add("first");
  const lines = [add("second"), add("first")].flatMap((error) =>
    commandsInMessage(JSON.parse(error).details, ["full", "first"]),
  );
  t.equal(lines.length, 2, lines.join("; "));
  requireUnderstood(t, lines);
});

/** Command lines whose messages name others. */
const talkative: readonly (readonly string[])[] = [
  ["capacity"],
  ["capacity", "--max-pods"],
  ["capacity", "none", "--max-pods"],
  ["show", "10.244.3.99"],
  ["show", "10.1.2.3"],
  ["show", "deadbeef"],
  ["show", "default/nobody"],
  ["release", "nobody"],
  ["release", "10.244.3.17"],
  ["release", "default/web"],
  ["gc"],
  ["gc", "mynet"],
  ["gc", "--now"],
  ["gc", "mynet", "--live-command", "echo 1234567890ab"],
  ["check", "none"],
  ["list", "none"],
  ["list", "--data-dir", "/none"],
  ["lst"],
  ["list", "--jsn"],
  ["plan"],
  ["plan", "--cluster-cidr", "10.244.0.0/16", "--node-cidr-mask-size", "24", "--nodes", "300"],
  [
    ...["plan", "--cluster-cidr", "10.240.0.0/12", "--node-cidr-mask-size", "16"],
    ...["--was-cluster-cidr", "10.244.0.0/16", "--was-node-cidr-mask-size", "24", "--nodes", "300"],
  ],
  ["audit", "nodes.json"],
  ["audit", "nodes.json", "--cluster-cidr", "10.244.0.0/24"],
  ["install", "/opt/cni/bin"],
  ["install", "/none"],
  // The one that changes anything.
  ["gc", "mynet", "--yes"],
];

part("the commands in messages run as printed", (t) => {
  makeSickNode();
  const lines = talkative.flatMap((words) => {
    const { stdout, stderr } = tool(words, { workingDirectory: WORK });
    return commandsInMessage(`${stdout}\n${stderr}`, ["mynet", "podman", "full", "former"]);
  });
  t.ok(lines.length > 0);
  requireUnderstood(t, lines, makeSickNode);
});

scenario("what is printed runs as printed", { plugins: [], cniVersion: "1.0.0" }, async (t) => {
  installPrograms();
  for (const [name, body] of parts) await t.test(name, async (inner) => body(inner));
});
