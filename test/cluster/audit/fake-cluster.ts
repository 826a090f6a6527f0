/** A cluster for the commands that `audit` prints: objects behind a kubectl, and machines behind an ssh. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { nodeObject, type WrittenNode } from "../node-texts.ts";

const kubectl = new Worker(new URL("fake-kubectl.ts", import.meta.url));
const [{ port }] = (await once(kubectl, "message")) as [AddressInfo];
// It ends with the tests.
kubectl.unref();

/** What tests look at in a node object. */
export interface StoredNode {
  readonly spec: { readonly podCIDR?: string; readonly podCIDRs?: readonly string[] };
}

/** How a script ended. */
export interface ScriptOutcome {
  readonly exitCode: number | null;
  readonly output: string;
}

/** A cluster. */
export interface FakeCluster {
  /** Runs lines in a shell, as an operator pastes them. */
  readonly run: (script: string) => ScriptOutcome;
  /** A node object; `undefined` where there is none. */
  readonly nodeOf: (name: string) => StoredNode | undefined;
  /** Adds or replaces a node. */
  readonly put: (node: WrittenNode) => void;
  /** The configuration that containerd wrote on a node; empty where there is none. */
  readonly configurationOf: (name: string) => string;
  /** What was called on a node, such as `systemctl stop kubelet`. */
  readonly callsOn: (name: string) => readonly string[];
}

const GENERATED = "etc/cni/net.d/10-containerd-net.conflist";

/** What a machine's programs do; `$ROOT` is its directory, `$NODE` its name. */
const machinePrograms = {
  sudo: 'exec "$@"',
  ip: 'echo "ip $*" >> "$ROOT/calls"',
  rm: `echo "rm $*" >> "$ROOT/calls"; exec /bin/rm "$1" "$ROOT$2"`,
  containerd: `echo "conf_template = \\"$(cat "$ROOT/template")\\""`,
  // A kubelet that starts tells containerd the podCIDR; containerd keeps a configuration that it has.
  systemctl: `echo "systemctl $*" >> "$ROOT/calls"
[ "$1" = start ] || exit 0
grep -q '"capacity"' "$OBJECTS/$NODE.json" || { echo "kubelet: panic" >&2; exit 1; }
[ -s "$ROOT/template" ] && [ ! -e "$ROOT/${GENERATED}" ] || exit 0
sed 's/.*"podCIDRs":\\["\\([^"]*\\)".*/\\1/' "$OBJECTS/$NODE.json" > "$ROOT/${GENERATED}"`,
};

/**
 * Makes a cluster whose nodes are up.
 *
 * @param template containerd's `conf_template` on all nodes; empty for a configuration that an administrator wrote
 */
export function fakeCluster(
  t: Test,
  nodes: readonly WrittenNode[],
  template = "/etc/containerd/cni.template",
): FakeCluster {
  const directory = scratchDirectory(t);
  const inCluster = (...path: readonly string[]): string => join(directory, ...path);
  const program = (path: string, body: string): void => {
    writeFileSync(path, `#!/bin/bash\n${body}\n`);
    chmodSync(path, 0o755);
  };
  for (const one of ["bin", "machine", "nodes", "machines", "work"]) mkdirSync(inCluster(one));
  program(
    inCluster("bin/kubectl"),
    `last=
exec 3<>/dev/tcp/127.0.0.1/${port}
file=
for word; do
  [ "$last" != -f ] || file=$word
  last=$word
done
{ printf '%s\\0' '${inCluster("nodes")}' "$@"; [ -z "$file" ] || cat "$file"; printf '\\1'; } >&3
read -r code <&3
if [ "$code" = 0 ]; then cat <&3; else cat <&3 >&2; fi
exit "$code"`,
  );
  program(
    inCluster("bin/ssh"),
    `NODE=$1; shift; export NODE ROOT='${inCluster("machines")}'/$NODE OBJECTS='${inCluster("nodes")}'
PATH='${inCluster("machine")}':$PATH exec sh -c "$*"`,
  );
  for (const [name, body] of Object.entries(machinePrograms)) {
    program(inCluster("machine", name), body);
  }
  const put = (node: WrittenNode): void =>
    writeFileSync(inCluster("nodes", `${node.name}.json`), JSON.stringify(nodeObject(node)));
  for (const node of nodes) {
    put(node);
    mkdirSync(inCluster("machines", node.name, "etc/cni/net.d"), { recursive: true });
    writeFileSync(inCluster("machines", node.name, "template"), template);
    writeFileSync(inCluster("machines", node.name, GENERATED), `${node.podCidrs?.[0] ?? ""}\n`);
  }
  const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
  return {
    run: (script) => {
      const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", script], {
        cwd: inCluster("work"),
        env: { PATH: `${inCluster("bin")}:${process.env.PATH}` },
        encoding: "utf8",
      });
      return { exitCode: status, output: `${stdout}${stderr}` };
    },
    nodeOf: (name) => {
      const text = textOf(inCluster("nodes", `${name}.json`));
      return text === "" ? undefined : JSON.parse(text);
    },
    put,
    configurationOf: (name) => textOf(inCluster("machines", name, GENERATED)).trim(),
    callsOn: (name) =>
      textOf(inCluster("machines", name, "calls"))
        .split("\n")
        .slice(0, -1),
  };
}
