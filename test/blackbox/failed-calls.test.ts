// test: each executable, mounts
/**
 * Failures are kept in a runtime directory; each test here has its own. test/verbs/keep-failure.test.ts tests an address that
 * is given back at once, and test/store/failed-calls/failed-calls-file.test.ts the obstacles to a record.
 */

import {
  appendFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { type CallRecord, parseCalls } from "../../src/store/failed-calls/failed-call.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable, type Outcome, run, start } from "../harness/executable.ts";
import { networkFor } from "../harness/executable-network.ts";
import { Mounts } from "../harness/mounts.ts";
import { lacking } from "../harness/needs.ts";
import type { RuntimeCall } from "../harness/runtime-call.ts";

/** A subnet with one address. */
const subnet = { subnet: "198.51.100.0/30" };

/** The options of containerd's call. */
const asSandbox = {
  cniArgs:
    "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=c1",
};

/** The directory in which a test's calls keep failures, which does not exist yet. */
function runtimeDirectoryFor(t: Test): string {
  return join(scratchDirectory(t), "host-local");
}

/** A call that keeps its failure in that directory. */
function keeping(directory: string, { environment, stdin }: RuntimeCall): RuntimeCall {
  return { environment: { ...environment, HOST_LOCAL_RUNTIME_DIR: directory }, stdin };
}

/** Every record in both files; a line without a record fails the test. */
function keptIn(t: Test, directory: string): readonly CallRecord[] {
  const names = existsSync(directory) ? readdirSync(directory).toSorted() : [];
  const text = names.map((name) => readFileSync(join(directory, name), "utf8")).join("");
  const records = parseCalls(text);
  t.equal(records.length, text.split("\n").length - 1, "every line is whole");
  return records;
}

/** Expects the record of a call, with the outcome that the runtime received. */
function expectKept(t: Test, directory: string, outcome: Outcome, call: object): void {
  t.equal(outcome.exitCode, 1);
  const { code, msg: message, details = "" } = JSON.parse(outcome.stdout);
  t.match(keptIn(t, directory).at(-1), { kind: "failed", code, message, details, ...call });
}

test("every call that fails is kept with its words, and STATUS is not", async (t) => {
  const directory = runtimeDirectoryFor(t);
  const network = networkFor(t, subnet);
  const { dataDirectory: dataDir } = network.machine;
  const call = (verb: string, id: string, options = {}): Outcome =>
    run(executable, keeping(directory, network.callFor(verb, id, options)));
  const known = { network: "net", dataDir, interfaceName: "eth0" };
  t.equal(call("ADD", "c0").exitCode, 0);
  t.notOk(existsSync(directory), "nothing is made for a call that succeeds");

  const full = { ...known, verb: "ADD", container: "c1", pod: "default/web" };
  expectKept(t, directory, call("ADD", "c1", asSandbox), full);
  expectKept(t, directory, call("CHECK", "c1"), { ...known, verb: "CHECK", container: "c1" });
  const elsewhere = call("DEL", "c0", { ipam: { dataDir: executable } });
  expectKept(t, directory, elsewhere, { ...known, verb: "DEL", dataDir: executable });
  const nothing = { network: "", dataDir: "", container: "c2", code: 6 };
  expectKept(t, directory, call("ADD", "c2", { stdin: "no JSON" }), nothing);
  const top = { "cni.dev/valid-attachments": "c1" };
  expectKept(t, directory, call("GC", "", { top }), { ...known, verb: "GC", interfaceName: "" });

  t.equal(call("STATUS", "", { ipam: { subnet: "none" } }).exitCode, 1);
  t.strictSame(
    keptIn(t, directory).map(({ verb }) => verb),
    ["ADD", "CHECK", "DEL", "ADD", "GC"],
  );
  t.equal(lstatSync(directory).mode & 0o7777, 0o700);
  t.equal(lstatSync(join(directory, "failed-calls")).mode & 0o7777, 0o600);
});

test("where there is no room a part of a line is no record, and the next one is", {
  skip: lacking("mounts"),
}, async (t) => {
  const mounts = await Mounts.open((end) => t.teardown(end));
  const directory = join(mounts.memory("run", "size=16k"), "host-local");
  const filler = join(directory, "..", "filler");
  const network = networkFor(t, subnet);
  const add = (id: string): Outcome =>
    run(executable, keeping(directory, network.callFor("ADD", id, { stdin: "no JSON" })));
  add("c1");
  writeFileSync(filler, "");
  for (let at = 0; at < 40; at++) {
    const { bfree, bsize } = statfsSync(directory);
    appendFileSync(filler, Buffer.alloc(bfree * bsize));
    t.equal(add(`c2-${at}`).exitCode, 1);
  }
  rmSync(filler);
  add("c3");

  const records = parseCalls(readFileSync(join(directory, "failed-calls"), "utf8"));
  t.ok(records.length < 42, "some have found no room");
  t.match([records.at(0), records.at(-1)], [{ container: "c1" }, { container: "c3" }]);
});

test("calls that fail at once are all kept", async (t) => {
  const directory = runtimeDirectoryFor(t);
  const network = networkFor(t, subnet);
  const ids = Array.from({ length: 20 }, (_, at) => `c${at}`);
  const call = (id: string): RuntimeCall =>
    keeping(directory, network.callFor("ADD", id, { stdin: "no JSON" }));

  await Promise.all(ids.map((id) => start(executable, call(id))));

  const kept = keptIn(t, directory).map(({ container }) => container);
  t.strictSame(kept.toSorted(), ids.toSorted());
});
