// test: each executable, one if short, sees the node
/** The calls of real clients, repeated without the clients: each gets the same answer as then. */

import { readdirSync } from "node:fs";
import { test } from "tap";
import { ExecutableMachine } from "../harness/executable-network.ts";
import { lacking } from "../harness/needs.ts";
import { readError } from "../harness/printed-error.ts";
import { inRepository } from "../harness/repository.ts";
import { readClientCalls } from "./client-calls.ts";

/** The part of an answer that does not change with the build: for an error, its code and message. */
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

/**
 * The record with addresses that a node with flannel does not have: its GC looks on this machine for the addresses that its
 * list lacks, and releases them.
 */
function documented(text: string): string {
  return text.replaceAll("10.244.7.", "198.51.100.").replaceAll("fd00:10:244:", "2001:db8:244:");
}

const records = [
  ["calico.jsonl", []],
  ["containerd.jsonl", []],
  ["containerd-status.jsonl", []],
  ["crio.jsonl", []],
  ["crio-multus.jsonl", [2, 3, 4, 5, 6].map((last) => `clients/10.63.0.${last}`)],
  ["flannel.jsonl", ["cbr0/198.51.100.2", "cbr0/2001:db8:244:7::2"], "sees the node"],
  ["podman.jsonl", []],
] as const;

test("each record is called again", async (t) => {
  const directory = inRepository("test/blackbox/client-calls");
  t.same(readdirSync(directory), records.map(([file]) => file).toSorted());
});

for (const [file, left, need] of records) {
  const { client, calls: recorded } = readClientCalls(file);
  const calls: typeof recorded =
    need === undefined ? recorded : JSON.parse(documented(JSON.stringify(recorded)));
  const skip = need === undefined ? false : lacking(need);
  test(`${client}: ${calls.length} calls`, { skip }, async (t) => {
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
