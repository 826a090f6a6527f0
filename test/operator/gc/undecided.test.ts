/** What `gc` says where nothing on the node shows whether a container lives: who decides, by the command to run. */

import { test } from "tap";
import { gc } from "../../../src/operator/gc/gc.ts";
import { type Interrupt, refuse } from "../../harness/interruption.ts";
import { attachmentCall, configuration } from "../../harness/runtime-call.ts";
import { configure, memoryNode, RESULTS, remember, runOn } from "../memory-node.ts";

/** A namespace of which nothing tells whose it is: no container is known to be dead. */
const strange = { processes: { 8: { namespace: 80, addresses: ["172.17.0.2"] } } };

const places = "--conf-dir /conf --data-dir /data --cache-dir /cache";
const sandbox = "4f1d6e0c".repeat(8);
const cnitool = "cnitool-77383ca0a0715733ca6f";
const why =
  "no process has the address, and the namespace of its container is not known; the network namespace /proc/8/ns/net belongs to no known container";

interface Case {
  /** The containers that hold 10.0.0.2, 10.0.0.3 and so on, since an hour. */
  readonly holders: readonly string[];
  /** The file of the configuration, by which a runtime is known. */
  readonly file?: string;
  readonly interrupt?: Interrupt;
  readonly messages: readonly string[];
}

const byRelease = (id: string): string =>
  `A list with such ids as ${id} decides (--live-command or --live); if there is none, and nothing uses the address: host-local release 10.0.0.2 --network net ${places}`;

const cases: Readonly<Record<string, Case>> = {
  "ids of sandboxes": {
    holders: [sandbox],
    messages: [
      `net: 1 of 1 reservation is undecided: ${why}. The runtime's list decides: host-local gc net --live-command 'crictl pods -q' ${places} (or --live FILE)`,
    ],
  },
  "such ids in podman's network": {
    holders: [sandbox],
    file: "87-podman.conflist",
    messages: [`net: 1 of 1 reservation is undecided: ${why}. ${byRelease(sandbox)}`],
  },
  "other ids": {
    holders: [cnitool, sandbox],
    messages: [`net: 2 of 2 reservations are undecided: ${why}. ${byRelease(cnitool)}`],
  },
  "what would tell cannot be read": {
    holders: [sandbox],
    interrupt: refuse("readFile", "EIO", `${RESULTS}/net-${sandbox}-eth0`),
    messages: [
      `net: 1 of 1 reservation is undecided: libcni's cache cannot be read: open ${RESULTS}/net-${sandbox}-eth0: input/output error`,
    ],
  },
};

for (const [what, { holders, file = "net.conflist", interrupt, messages }] of Object.entries(
  cases,
)) {
  test(`undecided: ${what}`, async (t) => {
    const machine = memoryNode(
      Object.fromEntries(holders.map((id, at) => [`10.0.0.${at + 2}`, `${id}\r\neth0`])),
    );
    const plugins = [{ type: "bridge", ipam: { type: "host-local", subnet: "10.0.0.0/24" } }];
    configure(machine, file, { cniVersion: "1.0.0", name: "net", plugins });
    for (const id of holders) remember(machine, id);
    machine.wait(3_600_000);

    const run = runOn(machine, gc, { options: { "--yes": "" }, kernel: strange, interrupt });

    t.same(run.logged.split("\n").slice(-messages.length), messages);
    t.equal(run.exitCode, 1);
  });
}

for (const list of [undefined, "another", "job-of-another"]) {
  test(`what was reserved for no pod sandbox, with the list ${list}`, async (t) => {
    const machine = memoryNode({});
    const ipam = { subnet: "10.0.0.0/28" };
    configure(machine, "net.conf", configuration("/data", ipam, { cniVersion: "1.0.0" }));
    machine.kernel.hasHandles = true;
    machine.kernel.mount("/run/netns/job");
    const call = { containerId: "job", netns: "/run/netns/job", cniArgs: "" };
    const add = machine.runPlugin(attachmentCall("ADD", call, configuration("/data", ipam)));
    t.equal(add.exitCode, 0);
    machine.kernel.unmount("/run/netns/job");
    machine.wait(3_600_000);
    if (list !== undefined) machine.disk.put("/live", list);
    const given = list === undefined ? {} : { "--live": "/live" };

    const { exitCode, logged } = runOn(machine, gc, { options: { ...given, "--yes": "" } });

    t.match(
      logged,
      / reserved for no pod sandbox, .*\. A list of pod sandboxes does not decide on 10\.0\.0\.2\. If nothing uses it: host-local release 10\.0\.0\.2 --network net /,
    );
    t.equal(exitCode, 1);
  });
}
