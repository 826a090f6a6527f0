// test: native executable, full extent only, slow, sees the node
/** What a call costs, in instructions: a number that no other load on the machine changes. */

import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable } from "../harness/executable.ts";
import { canCount, countInstructions } from "../harness/instructions.ts";
import { lacking } from "../harness/needs.ts";
import { attachmentCall, configuration } from "../harness/runtime-call.ts";

/** What they took, with a tenth of room. */
const limits = { VERSION: 65_000, ADD: 1_400_000, DEL: 850_000 } as const;

/** How many times the instructions of IPv4 an IPv6 ADD may take, with a tenth of room. */
const LARGEST_RATIO = 1.43;

const skip = canCount ? false : "valgrind is not installed, which counts instructions";

/** Counts the calls of one attachment, after a first one that makes the network's directories. */
function counter(directory: string, subnet: string): (verb: keyof typeof limits) => number {
  const document = configuration(join(directory, "data"), { subnet }, { name: subnet.slice(0, 3) });
  const { environment, stdin } = attachmentCall("ADD", { containerId: "c1" }, document);
  const count = (verb: keyof typeof limits): number =>
    countInstructions(executable, { ...environment, CNI_COMMAND: verb }, stdin, directory);
  count("ADD");
  count("DEL");
  return count;
}

test("VERSION, ADD and DEL of one address stay within their instructions", { skip }, async (t) => {
  const count = counter(t.testdir(), "198.51.100.0/24");
  for (const verb of ["VERSION", "ADD", "DEL"] as const) {
    const instructions = count(verb);
    t.comment(`${verb}: ${instructions}`);
    t.ok(instructions <= limits[verb], `${verb}: ${instructions} of ${limits[verb]}`);
  }
});

test("GC takes twice as long for twice as many dead containers", {
  skip: skip || lacking("sees the node"),
}, async (t) => {
  const [some, twice] = [1000, 2000].map((count) => {
    const directory = t.testdir({ data: { net: {} } });
    const old = Date.now() / 1000 - 60;
    for (let at = 2; at < count + 2; at++) {
      const path = join(directory, "data/net", `2001:db8::${at.toString(16)}`);
      writeFileSync(path, `c${at}\r\neth0`);
      utimesSync(path, old, old);
    }
    const list = { cniVersion: "1.1.0", "cni.dev/valid-attachments": [] };
    const document = configuration(join(directory, "data"), { subnet: "2001:db8::/64" }, list);
    const environment = { CNI_COMMAND: "GC", CNI_PATH: "/opt/cni/bin" };
    const counted = countInstructions(executable, environment, JSON.stringify(document), directory);
    t.same(readdirSync(join(directory, "data/net")), ["lock"], "all are released");
    return counted;
  });
  t.ok(Number(twice) < 2.3 * Number(some), `${some} and ${twice}`);
});

test("an IPv6 ADD takes little more than one of IPv4", { skip }, async (t) => {
  const directory = t.testdir();
  const [four, six] = ["198.51.100.0/24", "2001:db8::/64"].map((subnet) =>
    counter(directory, subnet)("ADD"),
  );
  t.ok(Number(six) <= LARGEST_RATIO * Number(four), `${six} and ${four}`);
});
