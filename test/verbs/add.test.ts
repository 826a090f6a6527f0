import { test } from "tap";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { Network } from "./network.ts";

const subnet = { subnet: "10.0.0.0/29" };
const dualStack = { ranges: [[subnet], [{ subnet: "2001:db8::/125" }]] };

function networkWith(ipam: object = subnet): Network {
  return new Network(new MemoryMachine(), ipam);
}

test("where a cursor cannot be written, no set keeps a reservation, and the journal lists nothing", (t) => {
  const network = new Network(new MemoryMachine(), dualStack);
  network.add("c2");
  network.machine.disk.unlink(`${network.directory}/last_reserved_ip.1`);
  network.machine.disk.makeDirectories(`${network.directory}/last_reserved_ip.1`);

  const { error } = network.add("c1");

  t.same(error, {
    code: 999,
    msg: "failed to allocate for range 1: open /var/lib/cni/networks/net/last_reserved_ip.1: is a directory",
    details: "open /var/lib/cni/networks/net/last_reserved_ip.1: is a directory",
  });
  t.same(Object.keys(network.reservations()), ["10.0.0.2", "2001:db8::2"]);
  t.end();
});

test("what an ADD could not release is released by the DEL that follows", (t) => {
  const network = new Network(new MemoryMachine(), dualStack);
  network.add("c2");
  const last = `${network.directory}/last_reserved_ip.0`;

  const { exitCode } = network.add("c1", {
    interrupt: (call) =>
      refuse("overwriteFile", "EIO", last)(call) ??
      refuse("readFile", "EIO", `${network.directory}/10.0.0.3`)(call),
  });
  t.equal(exitCode, 1);
  t.equal(network.del("c1").exitCode, 0);

  t.same(Object.keys(network.reservations()), ["10.0.0.2", "2001:db8::2"]);
  t.end();
});

test("the first ADD on a node makes all directories and prints the result", (t) => {
  const network = networkWith();

  const { exitCode, stdout, stderr } = network.add("c1");

  t.equal(exitCode, 0);
  t.equal(
    stdout,
    `{
    "cniVersion": "1.1.0",
    "ips": [
        {
            "address": "10.0.0.2/29",
            "gateway": "10.0.0.1"
        }
    ]
}`,
  );
  t.equal(stderr, "");
  const { disk } = network.machine;
  const { ".host-local/net/journal": journal, ...files } = disk.filesUnder("/var/lib/cni/networks");
  t.match(
    journal,
    /^host-local-journal 2 [0-9a-f-]{36} [0-9a-f]{32} \S+ 1 273 256 +\nc1 eth0 10\.0\.0\.2\n$/,
  );
  t.same(files, {
    "net/10.0.0.2": "c1\r\neth0",
    "net/last_reserved_ip.0": "10.0.0.2",
    "net/lock": "",
  });
  t.equal(disk.modeOf(network.directory), 0o755);
  t.equal(disk.modeOf("/var/lib/cni/networks/.host-local"), 0o700);
  t.equal(disk.modeOf("/var/lib/cni/networks/.host-local/net/journal"), 0o600);
  t.end();
});

test("ADD reserves one address of every range set, in their order", (t) => {
  const network = networkWith(dualStack);

  t.same(network.add("c1").addresses, ["10.0.0.2/29", "2001:db8::2/125"]);

  t.same(network.reservations(), { "10.0.0.2": "c1\r\neth0", "2001:db8::2": "c1\r\neth0" });
  t.same([network.cursor(0), network.cursor(1)], ["10.0.0.2", "2001:db8::2"]);
  t.end();
});

test("each interface of a container gets its own address", (t) => {
  const network = networkWith();
  network.add("c1");

  t.same(network.add("c1", { interfaceName: "eth1" }).addresses, ["10.0.0.3/29"]);
  t.end();
});

test("ADD takes the lock once, around all range sets", (t) => {
  const network = networkWith(dualStack);
  network.add("c0");
  const { calls } = network.add("c1");
  const operations = calls.map(({ operation }) => operation);

  t.equal(operations.filter((operation) => operation === "lock").length, 1);
  t.ok(operations.indexOf("lock") < operations.indexOf("unlink"));
  t.ok(operations.indexOf("lock") < operations.indexOf("link"));
  t.ok(operations.lastIndexOf("overwriteFile") < operations.indexOf("unlock"));
  t.ok(operations.lastIndexOf("symlink") < operations.indexOf("unlock"));
  t.ok(operations.indexOf("unlock") < operations.indexOf("writeStandardOutput"));
  t.end();
});

test("the first ADD of a network makes its directory when the lock asks for it", (t) => {
  const { calls } = networkWith().add("c1");
  const operations = calls.map(({ operation }) => operation);

  const first = operations.indexOf("lock");
  t.same(operations.slice(first, first + 3), ["lock", "makeDirectories", "lock"]);
  t.end();
});

test("requested addresses come from CNI_ARGS, args and runtimeConfig, each for the set that contains it", (t) => {
  const network = networkWith(dualStack);

  t.same(
    network.add("c1", { args: "IP=2001:db8::5", top: { runtimeConfig: { ips: ["10.0.0.4"] } } })
      .addresses,
    ["10.0.0.4/29", "2001:db8::5/125"],
  );
  t.same(network.add("c2", { top: { args: { cni: { ips: ["10.0.0.6/24"] } } } }).addresses, [
    "10.0.0.6/29",
    "2001:db8::6/125",
  ]);
  t.end();
});

test("each set takes the first requested address in it; any that remain are an error", (t) => {
  const network = networkWith();

  const { error } = network.add("c1", {
    top: { runtimeConfig: { ips: ["10.0.0.4", "10.0.0.5", "10.9.9.9"] } },
  });

  t.equal(error?.msg, "failed to allocate all requested IPs: 10.0.0.5 10.9.9.9");
  t.same(network.reservations(), {});
  t.end();
});

test("a set that fails is named, and what this call reserved in others is released", (t) => {
  const network = networkWith(dualStack);
  network.put("2001:db8::3", "c2\r\neth0");

  const { error } = network.add("c1", { args: "IP=2001:db8::3" });

  t.equal(error?.code, 999);
  t.equal(
    error?.msg,
    "failed to allocate for range 1: requested IP address 2001:db8::3 is not available in range set 2001:db8::1-2001:db8::7",
  );
  t.equal(error?.details, "2001:db8::3 is held by container c2, interface eth0");
  t.same(network.reservations(), { "2001:db8::3": "c2\r\neth0" });
  t.end();
});

test("a second ADD of an attachment fails and leaves its reservation", (t) => {
  const network = networkWith(dualStack);
  network.put("2001:db8::6", "c1\r\neth0");
  network.put("10.9.9.9", "c1\r\neth0");

  const { error } = network.add("c1");

  t.match(error?.msg, /^failed to allocate for range 1: 2001:db8::6 has been allocated to c1/);
  t.same(Object.keys(network.reservations()), ["10.9.9.9", "2001:db8::6"]);
  t.end();
});

test("ADD waits for the lock as long as configured, then names its holder and has changed nothing", (t) => {
  const network = networkWith();
  network.add("c1");
  network.machine.locks.set("/var/lib/cni/networks/.host-local/net/lock", "process 7 (GC)");
  const files = network.machine.disk.filesUnder("/");

  for (const [ipam, seconds] of [
    [{}, 30],
    [{ lockTimeoutSeconds: 2.5 }, 2.5],
    [{ lockTimeoutSeconds: 0 }, 0],
  ] as const) {
    const before = network.machine.time;
    const { error } = network.add("c2", { ipam });

    t.equal(error?.code, 11);
    t.equal(error?.msg, `network net is locked; gave up after ${seconds} s`);
    t.match(error?.details, "is held by process 7 (GC); nothing was changed");
    t.equal(network.machine.time - before, seconds * 1000);
    t.same(network.machine.disk.filesUnder("/"), files);
  }
  t.end();
});

test("ADD takes the lock in the name of its attachment", (t) => {
  const network = networkWith();
  let holder: string | undefined;

  network.add("c1", {
    processId: 7,
    interrupt: ({ operation }) => {
      if (operation === "link") holder = [...network.machine.locks.values()].at(0);
      return undefined;
    },
  });

  t.equal(holder, "process 7 (ADD c1 eth0)");
  t.end();
});

test("the DNS settings of resolvConf are part of the result", (t) => {
  const network = networkWith({ ...subnet, resolvConf: "/etc/resolv.conf" });
  network.machine.disk.put("/etc/resolv.conf", "nameserver 10.0.0.53\nsearch a b\n");

  t.same(JSON.parse(network.add("c1").stdout).dns, {
    nameservers: ["10.0.0.53"],
    search: ["a", "b"],
  });
  t.end();
});

test("a resolvConf that cannot be read is an error before anything is made", (t) => {
  const network = networkWith({ ...subnet, resolvConf: "/no/such" });

  t.same(network.add("c1").error, {
    code: 999,
    msg: "open /no/such: no such file or directory",
  });
  t.same(network.machine.disk.list("/"), []);
  t.end();
});

test("the plugin's own network namespace is refused before anything is made", (t) => {
  const network = networkWith();
  network.machine.disk.put("/proc/self/ns/net", "");

  const { error } = network.add("c1", { networkNamespace: "/proc/self/ns/net" });

  t.equal(error?.code, 8);
  t.notOk(network.machine.disk.has(network.directory));
  t.end();
});

test("ADD removes temporary files of killed calls that are older than a minute", (t) => {
  const network = networkWith();
  const leftOver = "/var/lib/cni/networks/.host-local/net/new/1.0";
  network.machine.disk.put(leftOver, "killed\r\neth0");
  network.machine.wait(60_001);

  network.add("c1");

  t.notOk(network.machine.disk.has(leftOver));
  t.end();
});

test("where the result cannot be printed, its addresses are released, and standard error has the error", (t) => {
  const network = networkWith(dualStack);
  network.put("10.9.9.9", "c1\r\neth0");

  const { exitCode, stderr } = network.add("c1", {
    interrupt: refuse("writeStandardOutput", "ENOSPC"),
  });

  t.equal(exitCode, 1);
  t.match(stderr, "Error writing error JSON to stdout: write /dev/stdout: no space left on device");
  t.same(network.reservations(), { "10.9.9.9": "c1\r\neth0" });
  t.end();
});

test("where only the result cannot be printed, the error says so", (t) => {
  const network = networkWith();
  let writes = 0;

  const { error } = network.add("c1", {
    interrupt: ({ operation }) =>
      operation === "writeStandardOutput" && ++writes === 1
        ? { kind: "fail", code: "EIO" }
        : undefined,
  });

  t.same(error, {
    code: 5,
    msg: "cannot deliver the result: write /dev/stdout: input/output error",
  });
  t.same(network.reservations(), {});
  t.end();
});

test("in the chain after a main plugin, ADD prints prevResult and changes nothing", (t) => {
  const network = networkWith();
  const prevResult = { cniVersion: "1.1.0", interfaces: [{ name: "eth0" }], extra: [1, "<&>"] };

  const { exitCode, stdout } = network.add("c1", { top: { gcOnly: true, prevResult } });

  t.equal(exitCode, 0);
  t.same(JSON.parse(stdout), prevResult);
  t.same(network.machine.disk.list("/"), []);
  t.end();
});

test("in the chain, a deeply nested prevResult is printed without indentation", (t) => {
  const prevResult = JSON.parse("[".repeat(9000) + "]".repeat(9000));

  const { stdout } = networkWith().add("c1", { top: { gcOnly: true, prevResult } });

  t.equal(stdout.length, 18_000);
  t.end();
});

test("in the chain, ADD without prevResult is an error", (t) => {
  for (const top of [{ gcOnly: true }, { gcOnly: true, prevResult: null }]) {
    const { error } = networkWith().add("c1", { top });

    t.equal(error?.code, 7);
    t.equal(error?.msg, "Required prevResult missing");
  }
  t.end();
});
