// test: each executable
/** ADD, where no recording of the Go plugin shows what is asked of it. */

import { mkdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { readError } from "../harness/printed-error.ts";
import { grantedAddresses, type Network, networkFor } from "./network.ts";

const smallest = { subnet: "10.0.0.0/30" };
const five = { subnet: "10.0.0.0/29" };

test("an exhausted range says how many addresses are used, and what to do", (t) => {
  const network = networkFor(t, five);
  for (const id of ["c1", "c2", "c3", "c4", "c5"]) {
    t.equal(network.add(id).exitCode, 0);
  }

  const error = readError(network.add("c6").stdout);

  t.equal(error?.code, 999);
  t.equal(
    error?.msg,
    "failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.6",
  );
  t.match(error?.details, /\b5\b/, "details count the addresses");
  t.match(error?.details, /host-local|ls|rm|DEL|GC/, "details name a next step");
  t.end();
});

test("a requested address that is taken names its holder", (t) => {
  const network = networkFor(t, five);
  network.add("holder-of-four", { cniArgs: "IP=10.0.0.4" });

  const error = readError(network.add("c2", { cniArgs: "IP=10.0.0.4" }).stdout);

  t.equal(error?.code, 999);
  t.equal(
    error?.msg,
    "failed to allocate for range 0: requested IP address 10.0.0.4 is not available in range set 10.0.0.1-10.0.0.6",
  );
  t.match(error?.details, "holder-of-four");
  t.end();
});

const debris: readonly [string, string][] = [
  ["an empty file", ""],
  ["a file of white space", " \r\n"],
  ["a file of zero bytes after a power loss", "\0".repeat(8)],
];

for (const [what, content] of debris) {
  test(`${what}, left by a crash, is taken over when nothing else is free`, (t) => {
    const network = networkFor(t, smallest, [{ path: "net/10.0.0.2", content }]);
    makeOld(network, "10.0.0.2");

    t.same(grantedAddresses(network.add("c1")), ["10.0.0.2"]);
    t.equal(contentOf(network, "10.0.0.2"), "c1\r\neth0");
    t.end();
  });
}

test("an empty file is left alone as long as another address is free", (t) => {
  const network = networkFor(t, five, [{ path: "net/10.0.0.2", content: "" }]);
  makeOld(network, "10.0.0.2");

  t.same(grantedAddresses(network.add("c1")), ["10.0.0.3"]);
  t.equal(contentOf(network, "10.0.0.2"), "");
  t.end();
});

test("an empty file of this moment is left alone, for the Go plugin may be about to fill it", (t) => {
  const network = networkFor(t, smallest, [{ path: "net/10.0.0.2", content: "" }]);

  t.equal(readError(network.add("c1").stdout)?.code, 999);
  t.equal(contentOf(network, "10.0.0.2"), "");
  t.end();
});

for (const content of ["old", "old\r\neth0", "  old\r\neth0\n"]) {
  test(`a reservation of another container is never taken over: ${JSON.stringify(content)}`, (t) => {
    const network = networkFor(t, smallest, [{ path: "net/10.0.0.2", content }]);

    makeOld(network, "10.0.0.2");

    t.equal(readError(network.add("c1").stdout)?.code, 999);
    t.equal(contentOf(network, "10.0.0.2"), content);
    t.end();
  });
}

test("a cursor file that cannot be written leaks no address", (t) => {
  const network = networkFor(t, five);
  mkdirSync(join(network.directory, "net/last_reserved_ip.0"), { recursive: true });

  const outcome = network.add("c1");

  t.equal(outcome.exitCode, 1);
  t.match(readError(outcome.stdout)?.msg, /^failed to allocate for range 0: .*last_reserved_ip\.0/);
  t.same(network.reserved(), []);
  t.end();
});

test("a failure in the second range set gives back the address of the first", (t) => {
  const network = networkFor(t, { ranges: [[five], [{ subnet: "10.0.1.0/30" }]] }, [
    { path: "net/10.0.1.2", content: "other\r\neth0" },
  ]);

  t.equal(network.add("c1").exitCode, 1);
  t.same(network.reserved(), ["10.0.1.2"]);
  t.end();
});

test("of requested addresses in one range set, the first is reserved and the rest is named in order", (t) => {
  const network = networkFor(t, five);

  const refused = network.add("c1", {
    cniArgs: "IP=10.0.0.5",
    top: {
      args: { cni: { ips: ["10.0.0.4", "9.9.9.9"] } },
      runtimeConfig: { ips: ["10.0.0.3", "8.8.8.8"] },
    },
  });

  t.equal(
    readError(refused.stdout)?.msg,
    "failed to allocate all requested IPs: 10.0.0.4 9.9.9.9 10.0.0.3 8.8.8.8",
  );
  t.same(network.reserved(), []);
  t.equal(contentOf(network, "last_reserved_ip.0"), "10.0.0.5", "the first one had been reserved");
  t.end();
});

for (const content of ["10.0.0.3\n", " 10.0.0.3", "10.0.0.3\r\n"]) {
  test(`a cursor with white space around it counts: ${JSON.stringify(content)}`, (t) => {
    const network = networkFor(t, five, [{ path: "net/last_reserved_ip.0", content }]);

    t.same(grantedAddresses(network.add("c1")), ["10.0.0.4"]);
    t.end();
  });
}

for (const [subnet, first, second] of [
  ["::100:0/120", "::100:2", "::100:3"],
  ["::/120", "::2", "::3"],
  ["64:ff9b::/96", "64:ff9b::2", "64:ff9b::3"],
  ["0.0.0.0/8", "0.0.0.2", "0.0.0.3"],
  ["2001:db8::ffff:0/112", "2001:db8::ffff:2", "2001:db8::ffff:3"],
]) {
  test(`addresses of ${subnet} keep their family and order`, (t) => {
    const network = networkFor(t, { subnet: subnet ?? "" });

    t.same(grantedAddresses(network.add("c1")), [first]);
    t.same(grantedAddresses(network.add("c2")), [second]);
    t.end();
  });
}

test("of a repeated key the last one counts, with nothing left of the earlier one", (t) => {
  const network = networkFor(t, {
    ranges: [[{ subnet: "10.7.0.0/24", gateway: "10.7.0.9" }]],
    Ranges: [[{ subnet: "10.8.0.0/24" }]],
  });

  const { ips } = JSON.parse(network.add("c1").stdout);

  t.strictSame(ips, [{ address: "10.8.0.2/24", gateway: "10.8.0.1" }]);
  t.end();
});

test("a reservation file removed by an administrator is free again", (t) => {
  const network = networkFor(t, smallest);
  network.add("c1");
  rmSync(join(network.directory, "net/10.0.0.2"));

  t.same(grantedAddresses(network.add("c2")), ["10.0.0.2"]);
  t.end();
});

test("a result larger than a pipe holds arrives whole", (t) => {
  const routes = Array.from({ length: 4000 }, (_, index) => ({
    dst: `10.${index >> 8}.${index & 255}.0/24`,
    gw: "10.0.0.1",
  }));
  const network = networkFor(t, { ...five, routes });

  const outcome = network.add("c1");

  t.equal(outcome.exitCode, 0);
  t.strictSame(JSON.parse(outcome.stdout).routes, routes);
  t.end();
});

test("an ADD of a reserved attachment changes nothing", (t) => {
  const network = networkFor(t, five);
  network.add("c1");
  const before = network.tree();

  t.match(readError(network.add("c1").stdout)?.msg, "10.0.0.2 has been allocated to c1");
  t.same(network.tree(), before);
  t.end();
});

test("files and directories get their modes whatever the caller's umask is", (t) => {
  const network = networkFor(t, five);
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));

  network.add("c1");

  t.same(
    network.tree().map(({ path, mode }) => [path, mode]),
    [
      ["net/", "755"],
      ["net/10.0.0.2", "600"],
      ["net/last_reserved_ip.0", "600"],
      ["net/lock", "750"],
    ],
  );
  t.end();
});

/** Dates a file an hour back, so that no process can be in the middle of writing it. */
function makeOld({ directory }: Network, address: string): void {
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(join(directory, "net", address), hourAgo, hourAgo);
}

function contentOf(network: Network, name: string): string | undefined {
  return network.tree().find(({ path }) => path === `net/${name}`)?.content;
}
