// test: each executable, one if short
/** What programs of others ask of the data directory: audits of modes, and searches by address or container. */

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { type Test, test } from "tap";
import { executable, run } from "../harness/executable.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { tool } from "../harness/tool.ts";
import { isRoot } from "../harness/unprivileged.ts";

const pod = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web-0";

/** An id as containerd, CRI-O and podman give one. */
function idOf(number: number): string {
  return createHash("sha256").update(`${number}`).digest("hex");
}

/** A data directory with every file that the plugin and its tool make, by a caller with a umask. */
function used(t: Test, umask = "022"): ExecutableNetwork {
  const keys = { history: { maxBytes: 4096 }, sticky: "pod", reuseDelaySeconds: 5 };
  const network = networkFor(t, { subnet: "10.62.0.0/24", ...keys });
  const call = (verb: string, containerId: string): void => {
    const { environment, stdin } = network.callFor(verb, containerId, { cniArgs: pod });
    const under = ["-c", `umask ${umask}; exec "$0"`, executable];
    const { exitCode } = run("/bin/sh", { environment, stdin, arguments: under });
    t.equal(exitCode, 0, `${verb} ${containerId}`);
  };
  for (let at = 0; at < 25; at++) {
    call("ADD", idOf(at));
    if (at > 2) call("DEL", idOf(at));
  }
  network.age();
  const list = { stdin: `${idOf(0)}\n` };
  tool(["gc", "--data-dir", network.machine.dataDirectory, "--live", "-", "--force"], list);
  return network;
}

/** What a shell finds below the data directory, as paths in it. */
function found({ machine }: ExecutableNetwork, command: string): readonly string[] {
  const options = { cwd: machine.dataDirectory, encoding: "utf8" } as const;
  const { stdout } = spawnSync("/bin/sh", ["-c", command], options);
  return stdout.split("\n").filter((line) => line !== "");
}

/** The lines that a shell prints for a command, with the data directory in place of the usual one. */
function audit({ machine }: ExecutableNetwork, command: string): readonly string[] {
  const line = command.replace("/var/lib/cni/networks", machine.dataDirectory);
  return execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" }).trim().split("\n");
}

// The second half of kube-bench's audits; the first is about configurations.
const skip = isRoot ? false : "the owner is to be root";
for (const umask of ["000", "022", "077"]) {
  test(`CIS 1.1.9 and 1.1.10 hold, by kube-bench, under umask ${umask}`, { skip }, async (t) => {
    const network = used(t, umask);
    const names = network.machine.tree().map(({ path }) => path.replace(/^.*\/(?=.)/, ""));
    for (const name of ["lock", "journal", "history", "history.1", "reuse", "collection.json"]) {
      t.ok(names.includes(name), name);
    }

    const modes = audit(
      network,
      "find /var/lib/cni/networks -type f 2> /dev/null | xargs --no-run-if-empty stat -c permissions=%a",
    );
    const owners = audit(
      network,
      "find /var/lib/cni/networks -type f 2> /dev/null | xargs --no-run-if-empty stat -c %U:%G",
    );

    t.same([...new Set(modes)], ["permissions=600"]);
    t.same([...new Set(owners)], ["root:root"]);
  });
}

test("the id of a container is in its reservation alone, and in no file after its DEL but the history", async (t) => {
  const network = used(t);
  const history = [".host-local/net/history", ".host-local/net/history.1"];
  for (const [at, id] of Array.from({ length: 25 }, (_, at) => [at, idOf(at)] as const)) {
    const files = found(network, `grep -rl ${id} . | sed 's,^[.]/,,'`);
    const own = files.filter((name) => !history.includes(name));
    t.same(own, at > 2 ? [] : [`net/10.62.0.${at + 2}`], id);
  }
  t.same(
    found(network, `grep -rl "$(printf %.13s ${idOf(20)})" .host-local --exclude 'history*'`),
    [],
  );
});

test("nothing below .host-local is named like an address", async (t) => {
  const network = used(t);
  const names = found(network, "find .host-local -mindepth 1 -printf '%f\\n'");
  t.ok(names.includes("journal"));
  t.same(
    names.filter((name) => /^[0-9a-f.:]+$/i.test(name)),
    [],
  );
  t.same(found(network, "find . -name '10.62.*' -path '*host-local*'"), []);
});
