// test: each executable, one if short, sees the node
/** The questions of other programs about the data directory: audits of modes, and searches by address or container. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { type Test, test } from "tap";
import { executable, run } from "../harness/executable.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { tool } from "../harness/tool.ts";

/** Ids as containerd, CRI-O and podman give them; the first three are not deleted. */
const ids = Array.from({ length: 25 }, (_, at) =>
  createHash("sha256").update(`${at}`).digest("hex"),
);

/** A data directory with every file that the plugin and its tool make, when the caller's umask forbids nothing. */
function used(t: Test): ExecutableNetwork {
  const keys = { history: { maxBytes: 4096 }, sticky: "pod", reuseDelaySeconds: 5 };
  const network = networkFor(t, { subnet: "198.51.100.0/24", ...keys });
  const cniArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0";
  const call = (verb: string, containerId: string): void => {
    const { environment, stdin } = network.callFor(verb, containerId, { cniArgs });
    const unmasked = ["-c", 'umask 0; exec "$0"', executable];
    const { exitCode } = run("/bin/sh", { environment, stdin, arguments: unmasked });
    t.equal(exitCode, 0, `${verb} ${containerId}`);
  };
  for (const [at, id] of ids.entries()) {
    call("ADD", id);
    if (at > 2) call("DEL", id);
  }
  network.age();
  const list = { stdin: `${ids[0]}\n` };
  tool(["gc", "--data-dir", network.machine.dataDirectory, "--live", "-", "--force"], list);
  return network;
}

/** The lines that a shell prints for a command in the data directory. */
function printed({ machine }: ExecutableNetwork, command: string): readonly string[] {
  const options = { cwd: machine.dataDirectory, encoding: "utf8" } as const;
  return spawnSync("/bin/sh", ["-c", command], options).stdout.split("\n").slice(0, -1);
}

test("CIS 1.1.9 and 1.1.10 hold, by the second half of kube-bench's audits", async (t) => {
  const network = used(t);
  const names = printed(network, "find . -type f -printf '%f\\n'");
  for (const name of ["lock", "journal", "history", "history.1", "reuse", "collection.json"]) {
    t.ok(names.includes(name), name);
  }

  const audit = "find . -type f 2> /dev/null | xargs --no-run-if-empty stat -c";
  t.same([...new Set(printed(network, `${audit} permissions=%a`))], ["permissions=600"]);
  // On a node, root runs the plugin.
  const caller = `${process.getuid?.()}:${process.getgid?.()}`;
  t.same([...new Set(printed(network, `${audit} %u:%g`))], [caller]);
});

test("the id of a container is in its reservation alone, of the network's directory", async (t) => {
  const network = used(t);
  for (const [at, id] of ids.entries()) {
    t.same(printed(network, `grep -rl ${id} net`), at > 2 ? [] : [`net/198.51.100.${at + 2}`], id);
  }
  const names = printed(network, "find .host-local -mindepth 1 -printf '%f\\n'");
  t.same(
    names.filter((name) => /^[0-9a-f.:]+$/i.test(name)),
    [],
    "nothing there is named like an address",
  );
});
