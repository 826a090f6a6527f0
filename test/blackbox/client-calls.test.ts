// test: each executable, one if short
/** The calls of real clients once more, without the clients: each gets the answer that it got then. */

import { readdirSync } from "node:fs";
import { test } from "tap";
import { ExecutableMachine } from "../harness/executable-network.ts";
import { skipOutsideHost } from "../harness/network-namespaces.ts";
import { readError } from "../harness/printed-error.ts";
import { inRepository } from "../harness/repository.ts";
import { readClientCalls } from "./client-calls.ts";

/** What of an answer does not change with the build: of an error its code and message. */
function promised({ exitCode, stdout }: { exitCode: number | null; stdout: string }): unknown {
  const error = exitCode === 0 ? undefined : readError(stdout);
  return { exitCode, answer: error === undefined ? stdout : { code: error.code, msg: error.msg } };
}

/** The files of all networks but the locks and cursors, such as `clients/10.61.0.2`. */
function reservedIn(machine: ExecutableMachine): readonly string[] {
  const shared = machine
    .tree()
    .filter(({ path }) => !/^\.host-local\/|\/(lock|last.*)?$/.test(path));
  return shared.map(({ path }) => path);
}

const records = [
  ["calico.jsonl", []],
  ["containerd.jsonl", []],
  ["containerd-status.jsonl", []],
  ["crio.jsonl", []],
  ["crio-multus.jsonl", [2, 3, 4, 5, 6].map((last) => `clients/10.63.0.${last}`)],
  // Its GC releases what its list lacks, and so looks at the network namespaces of the machine.
  ["flannel.jsonl", ["cbr0/10.244.7.2", "cbr0/fd00:10:244:7::2"], skipOutsideHost],
  ["podman.jsonl", []],
] as const;

test("each record is called again", async (t) => {
  const directory = inRepository("test/blackbox/client-calls");
  t.same(readdirSync(directory), records.map(([file]) => file).toSorted());
});

for (const [file, left, skip] of records) {
  const { client, calls } = readClientCalls(file);
  test(`${client}: ${calls.length} calls`, { skip: skip ?? false }, async (t) => {
    const machine = new ExecutableMachine(t);
    const dataDir = JSON.stringify(machine.dataDirectory);
    for (const { environment, stdin, caller, ...answer } of calls) {
      const { CNI_COMMAND: verb = "", CNI_CONTAINERID: id = "" } = environment;
      // GC keeps what is young.
      if (verb === "GC") for (const path of reservedIn(machine)) machine.makeOld(path);
      const here = stdin.replaceAll('"ipam":{', `"ipam":{"dataDir":${dataDir},`);
      const outcome = machine.runPlugin({ environment, stdin: here });
      t.same(promised(outcome), promised(answer), `${caller}: ${verb} ${id.slice(0, 8)}`);
    }
    t.same(reservedIn(machine), left, "what stays reserved");
  });
}
