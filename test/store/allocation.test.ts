import { test } from "tap";
import { formatAddress } from "../../src/ipam/address.ts";
import { type Exclusions, makeExclusions } from "../../src/ipam/exclusions.ts";
import { Allocator } from "../../src/store/allocation.ts";
import { AddressUse } from "../../src/store/namespaces/address-use.ts";
import type { ReservationFile } from "../../src/store/reservations/reservation-file.ts";
import { NO_PREFERENCES } from "../../src/store/reuse/reuse.ts";
import type { System } from "../../src/system/system.ts";
import { refuse } from "../harness/interruption.ts";
import type { MemoryMachine } from "../harness/memory-machine.ts";
import { address } from "../ipam/parsed.ts";
import {
  attachment,
  filesOf,
  journalOf,
  location,
  machineWith,
  rangeSet,
  reserve,
  withNetwork,
} from "./fixtures.ts";

const five = rangeSet("10.0.0.0/29");

interface Request {
  readonly exclusions?: Exclusions;
  readonly requested?: string;
}

/** Allocates for an attachment and moves the cursor; returns the address as text. */
function take(system: System, containerId: string, request: Request = {}): string {
  const owner = attachment(containerId);
  const { range, address: taken } = withNetwork(system, (network) => {
    const allocator = new Allocator(network, {
      attachment: owner,
      exclusions: request.exclusions ?? [],
      reserved: [],
      pod: undefined,
      held: network.heldBy(owner, "trust"),
      preferences: NO_PREFERENCES,
      namespace: undefined,
      use: new AddressUse(network.files),
      reclaims: true,
    });
    const { requested } = request;
    return allocator.allocate(five, 0, requested === undefined ? undefined : address(requested));
  });
  return `${formatAddress(taken)}/${range.prefixLength}`;
}

test("a requested address is refused with the reason", async (t) => {
  const exclusions = makeExclusions([{ first: address("10.0.0.6"), last: address("10.0.0.6") }]);
  const taken = "requested IP address 10.0.0.2 is not available in range set 10.0.0.1-10.0.0.6";
  const cases = [
    [
      "10.0.0.1",
      "",
      "requested ip 10.0.0.1 is subnet's gateway",
      "choose another address or another gateway",
    ],
    ["10.0.0.6", "", "requested ip 10.0.0.6 is excluded", "it is listed in ipam.exclude"],
    ["10.0.0.7", "", "10.0.0.7 not in range set 10.0.0.1-10.0.0.6", ""],
    ["10.0.0.2", "c2\r\neth1", taken, "10.0.0.2 is held by container c2, interface eth1"],
    ["10.0.0.2", "", taken, "10.0.0.2 is taken by a file that names no container"],
  ] as const;

  for (const [requested, content, message, details] of cases) {
    const machine = machineWith({ "10.0.0.2": content });

    t.throws(() => take(machine.start(), "c1", { requested, exclusions }), {
      code: 999,
      message,
      details,
    });
    t.same(filesOf(machine), { "10.0.0.2": content });
  }
});

test("an empty file is reclaimed when the set is otherwise exhausted", async (t) => {
  const other = "other\r\neth0";
  const machine = machineWith({
    "10.0.0.2": other,
    "10.0.0.3": "",
    "10.0.0.4": other,
    "10.0.0.5": "\0\0 \r\n",
    "10.0.0.6": other,
    "10.0.0.7": "",
  });
  machine.wait(10_001);

  t.equal(take(machine.start(), "c1"), "10.0.0.3/29");
  t.equal(take(machine.start(), "c2"), "10.0.0.5/29");

  t.equal(filesOf(machine)["10.0.0.7"], "", "what lies outside the set stays");
  t.throws(() => take(machine.start(), "c3"), { message: /^no IP addresses/ });
});

test("where there are no hard links, the reservation is created exclusively", async (t) => {
  for (const code of ["EPERM", "EOPNOTSUPP", "ENOSYS", "EMLINK"]) {
    const machine = machineWith({ "10.0.0.2": "other\r\neth0" });
    const process = machine.start({ interrupt: refuse("link", code, "/data/net/10.0.0.3") });

    t.equal(take(process, "c1"), "10.0.0.3/29", code);

    t.equal(filesOf(machine)["10.0.0.2"], "other\r\neth0");
    t.equal(filesOf(machine)["10.0.0.3"], "c1\r\neth0");
    t.equal(machine.disk.modeOf("/data/net/10.0.0.3"), 0o600);
  }
});

test("where the network is on another file system, nothing remains beside the reservation", async (t) => {
  const machine = machineWith();
  machine.disk.mount(location.directory);

  t.equal(take(machine.start(), "c1"), "10.0.0.2/29");

  t.same(filesOf(machine), { "10.0.0.2": "c1\r\neth0", "last_reserved_ip.0": "10.0.0.2" });
  t.same(journalOf(machine), { "c1 eth0": "10.0.0.2" });
});

test("an address that cannot be reserved is an error with the Go plugin's message", async (t) => {
  const machine = machineWith();
  const system = machine.start({ interrupt: refuse("link", "EACCES") });

  t.throws(() => take(system, "c1"), {
    code: 999,
    message: "open /data/net/10.0.0.2: permission denied",
    details: "link /data/net/10.0.0.2: permission denied",
  });

  t.same(filesOf(machine), {});
});

/** What a call of `c1` has reserved: these addresses. */
function reservedOn(machine: MemoryMachine): readonly ReservationFile[] {
  return withNetwork(machine.start(), (network) => {
    const c1 = attachment("c1");
    for (const name of ["10.0.0.2", "10.0.0.3"]) reserve(network, name, c1);
    return network.made;
  });
}

test("undo leaves what is another file meanwhile, even of the same owner, or is gone", async (t) => {
  for (const content of ["c1\r\neth0", "c2\r\neth0", ""]) {
    const machine = machineWith();
    const given = reservedOn(machine);
    for (const name of ["10.0.0.2", "10.0.0.3"]) machine.disk.unlink(`/data/net/${name}`);
    machine.wait(1);
    machine.disk.put("/data/net/10.0.0.2", content);

    withNetwork(machine.start(), (network) => network.undo(attachment("c1"), given));

    t.match(filesOf(machine), { "10.0.0.2": content });
  }
});
