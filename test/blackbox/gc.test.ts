// test: each executable
/** GC frees what the runtime no longer lists (CNI SPEC 1.1.0, section 2, GC). */

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import type { Json, JsonObject } from "../harness/runtime-call.ts";
import { handOver, withoutPrivileges } from "../harness/unprivileged.ts";
import { networkFor } from "./network.ts";
import { shortSample } from "./short-sample.ts";

const valid = "cni.dev/valid-attachments";
const older = "cni.dev/attachments";
const silent = { exitCode: 0, stdout: "", stderr: "" };

/** Both keys with one value, as libcni sends them. */
function listed(attachments: Json): JsonObject {
  return { [valid]: attachments, [older]: attachments };
}

const c1 = { containerID: "c1", ifname: "eth0" };
const c2 = { containerID: "c2", ifname: "eth0" };

/** Four attachments, one of them noted in the old way without its interface. */
const four = [
  { path: "net/10.0.0.2", content: "c1\r\neth0" },
  { path: "net/10.0.0.3", content: "c1\r\neth1" },
  { path: "net/10.0.0.4", content: "c2\r\neth0" },
  { path: "net/10.0.0.5", content: "c3" },
];

const subnet = { subnet: "10.0.0.0/24" };

const selections: readonly [string, JsonObject, readonly string[]][] = [
  ["keeps what is listed, by container and interface", listed([c1]), ["10.0.0.2"]],
  ["keeps several", listed([c2, c1]), ["10.0.0.2", "10.0.0.4"]],
  [
    "keeps a legacy reservation whose container is listed with any interface",
    listed([{ containerID: "c3", ifname: "net7" }]),
    ["10.0.0.5"],
  ],
  ["keeps nothing with an empty list", listed([]), []],
  ["keeps nothing with null", listed(null), []],
  ["keeps nothing of containers that it does not know", listed([{ ...c1, containerID: "c9" }]), []],
  ["does not confuse ids with the same beginning", listed([{ ...c1, containerID: "c" }]), []],
  ["takes the older key where the newer is absent", { [older]: [c2] }, ["10.0.0.4"]],
  ["takes the newer key where both are there", { [valid]: [c1], [older]: [c2] }, ["10.0.0.2"]],
  ["takes null in the newer key for an answer", { [valid]: null, [older]: [c2] }, []],
];

for (const [behaviour, keys, kept] of shortSample(selections)) {
  test(`GC ${behaviour}`, (t) => {
    const network = networkFor(t, subnet, four);

    t.same(network.gc(keys), silent);
    t.same(network.reserved(), kept);
    t.end();
  });
}

test("GC without either key frees nothing and says so in one line", (t) => {
  const network = networkFor(t, subnet, four);

  const outcome = network.gc({});

  t.equal(outcome.exitCode, 0);
  t.equal(outcome.stdout, "");
  t.match(outcome.stderr, /^[^\n]*cni\.dev\/valid-attachments[^\n]*\n$/);
  t.equal(network.reserved().length, 4);
  t.end();
});

const malformed: readonly [string, Json][] = [
  ["a string", "c1"],
  ["a number", 5],
  ["true", true],
  ["an object", c1],
  ["a list of strings", ["c1"]],
  ["a list with null", [c1, null]],
  ["a list of lists", [[c1]]],
  ["an entry without a container", [c1, { ifname: "eth0" }]],
  ["an entry without an interface", [c1, { containerID: "c2" }]],
  ["a container that is a number", [{ containerID: 1, ifname: "eth0" }]],
  ["an interface that is null", [{ containerID: "c1", ifname: null }]],
];

for (const [what, list] of shortSample(malformed)) {
  test(`GC with ${what} for a list is error 7 and frees nothing`, (t) => {
    const network = networkFor(t, subnet, four);

    const outcome = network.gc(listed(list));

    t.equal(outcome.exitCode, 1);
    t.equal(readError(outcome.stdout)?.code, 7);
    t.equal(network.reserved().length, 4);
    t.end();
  });
}

test("GC needs no ranges, for the runtime sends no runtimeConfig with it", (t) => {
  const network = networkFor(t, {}, four);

  t.same(network.gc(listed([c2])), silent);
  t.same(network.reserved(), ["10.0.0.4"]);
  t.end();
});

test("GC frees outside the configured ranges too", (t) => {
  const network = networkFor(t, { subnet: "10.77.0.0/24" }, four);

  t.same(network.gc(listed([])), silent);
  t.same(network.reserved(), []);
  t.end();
});

test("GC of a network that never had an address creates nothing", (t) => {
  const network = networkFor(t, subnet);

  t.same(network.gc(listed([])), silent);
  t.same(network.tree(), []);
  t.end();
});

test("GC leaves alone what is no reservation", (t) => {
  const others = [
    { path: "net/last_reserved_ip.0", content: "10.0.0.5" },
    { path: "net/notes.txt", content: "c1\r\neth0" },
    { path: "net/sub/10.0.0.2", content: "c1\r\neth0" },
    { path: "other/10.0.0.2", content: "c1\r\neth0" },
    { path: "net/10.0.0.9", content: "written by\nsomebody else" },
    { path: "net/10.0.0.10/" },
  ];
  const network = networkFor(t, subnet, [...others, ...four, { path: "net/lock" }]);
  const before = network.tree();

  t.same(network.gc(listed([])), silent);

  const freed = new Set(four.map(({ path }) => path));
  t.same(
    network.tree(),
    before.filter(({ path }) => !freed.has(path)),
  );
  t.end();
});

test("GC after an ADD of a listed attachment lets CHECK pass and DEL free", (t) => {
  const network = networkFor(t, subnet);
  network.add("c1");
  network.add("c2");

  t.same(network.gc(listed([c1])), silent);

  t.same(network.check("c1"), silent);
  t.equal(network.check("c2").exitCode, 1);
  t.same(network.del("c1"), silent);
  t.same(network.reserved(), []);
  t.end();
});

test("GC reports together what it could not free", (t) => {
  const network = networkFor(t, subnet, [...four, { path: "net/lock" }]);
  for (const path of ["", "net", "net/lock", ...four.map((file) => file.path)]) {
    handOver(join(network.directory, path));
  }
  chmodSync(join(network.directory, "net"), 0o555);
  t.teardown(() => chmodSync(join(network.directory, "net"), 0o755));

  const outcome = network.gc(listed([c1]), withoutPrivileges(t));

  const error = readError(outcome.stdout);
  t.equal(outcome.exitCode, 1);
  t.equal(error?.code, 5);
  for (const address of ["10.0.0.3", "10.0.0.4", "10.0.0.5"]) {
    t.match(`${error?.msg} ${error?.details}`, address);
  }
  t.notMatch(`${error?.msg} ${error?.details}`, "10.0.0.2");
  t.equal(network.reserved().length, 4);
  t.end();
});

for (const [what, ipam] of [
  ["a string", "x"],
  ["a list", []],
  ["null", null],
] as const) {
  test(`GC with an ipam section that is ${what} is error 7`, (t) => {
    const network = networkFor(t, subnet, four);

    const outcome = network.gc({ ...listed([]), ipam });

    t.equal(outcome.exitCode, 1);
    t.equal(readError(outcome.stdout)?.code, 7);
    t.equal(network.reserved().length, 4);
    t.end();
  });
}
