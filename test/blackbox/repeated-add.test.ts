// test: each executable
/** A repeated ADD with `"repeatedAdd": "same"` gets the result of the first. */

import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import type { Json } from "../harness/runtime-call.ts";
import { networkFor } from "./network.ts";

const same = {
  repeatedAdd: "same",
  ranges: [[{ subnet: "10.41.0.0/29" }], [{ subnet: "2001:db8:41::/125" }]],
};

for (const cniVersion of ["0.2.0", "0.4.0", "1.1.0"]) {
  test(`a repeated ADD of version ${cniVersion} prints the same bytes and leaves the same files`, (t) => {
    const network = networkFor(t, same);
    const first = network.add("c1", { top: { cniVersion } });
    const before = network.tree();

    const again = network.add("c1", { top: { cniVersion } });

    t.equal(first.exitCode, 0);
    t.same(again, first);
    t.same(network.tree(), before);
    t.end();
  });
}

test("ADDs of one attachment at the same time have one answer", async (t) => {
  const network = networkFor(t, same);

  const answers = await Promise.all([1, 2, 3].map(() => network.begin("ADD", "c1")));

  t.equal(new Set(answers.map(({ stdout }) => stdout)).size, 1);
  t.same(
    answers.map(({ exitCode }) => exitCode),
    [0, 0, 0],
  );
  t.same(network.reserved(), ["10.41.0.2", "2001:db8:41::2"]);
});

test("a requested address that differs is refused", (t) => {
  const network = networkFor(t, same);
  network.add("c1", { cniArgs: "IP=10.41.0.4" });

  t.equal(network.add("c1", { cniArgs: "IP=10.41.0.4" }).exitCode, 0);
  const error = readError(network.add("c1", { cniArgs: "IP=10.41.0.5" }).stdout);

  t.match(error, {
    code: 999,
    msg: "failed to allocate for range 0: requested IP address 10.41.0.5 is not available in range set 10.41.0.1-10.41.0.6",
    details: /^c1 eth0 already holds 10\.41\.0\.4 of it/,
  });
  t.same(network.reserved(), ["10.41.0.4", "2001:db8:41::2"]);
  t.end();
});

test("an address in only one of the sets is the Go plugin's error", (t) => {
  const network = networkFor(t, same, [{ path: "net/10.41.0.5", content: "c1\r\neth0" }]);

  t.match(readError(network.add("c1").stdout)?.msg, "duplicate allocation is not allowed");
  t.same(network.reserved(), ["10.41.0.5"]);
  t.end();
});

test("without the key, or with error, a repeated ADD is the Go plugin's error", (t) => {
  for (const repeatedAdd of [null, "error"]) {
    const network = networkFor(t, { ...same, repeatedAdd });
    network.add("c1");
    t.match(readError(network.add("c1").stdout)?.msg, "duplicate allocation is not allowed");
  }
  t.end();
});

const invalid: readonly Json[] = ["Same", "", true, 1, ["same"]];

for (const repeatedAdd of invalid) {
  test(`repeatedAdd ${JSON.stringify(repeatedAdd)} is an error that names the key`, (t) => {
    const network = networkFor(t, { ...same, repeatedAdd });

    const error = readError(network.add("c1").stdout);

    t.equal(error?.code, 999);
    t.match(`${error?.msg} ${error?.details}`, "repeatedAdd");
    t.same(network.tree(), []);
    t.equal(network.del("c1").exitCode, 0);
    t.end();
  });
}
