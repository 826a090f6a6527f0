// test: native executable, full extent only, slow, sees the node, makes namespaces
/** The cost of a call in instructions, a number that no other load on the machine changes. */

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable, run } from "../harness/executable.ts";
import { canCount, countInstructions } from "../harness/instructions.ts";
import { lacking } from "../harness/needs.ts";
import { mountNamespace, withHighNumber } from "../harness/network-namespaces.ts";
import { attachmentCall, configuration, networkCall } from "../harness/runtime-call.ts";

/** The measured instructions of each verb, and a tenth more. */
const limits = { VERSION: 65_000, ADD: 1_400_000, DEL: 850_000 } as const;

/** The limit for an IPv6 ADD, as a multiple of an IPv4 ADD's instructions: the measured ratio, and a tenth more. */
const LARGEST_RATIO = 1.43;

/** How often GC is tried. It releases nothing while processes come and go faster than it looks, and valgrind slows it down. */
const MOST_TRIES = 20;

const skip = canCount ? false : "valgrind is not installed, which counts instructions";

/** Counts the instructions of one attachment's calls, after a first ADD has made the network's directories. */
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
  skip: skip || lacking("sees the node", "makes namespaces"),
}, (t) => {
  const [some, twice] = [500, 1000].map((count) => {
    const directory = t.testdir({ data: {} });
    const list = { "cni.dev/valid-attachments": [] };
    const ipam = { subnet: "2001:db8:6c::/64" };
    const document = configuration(join(directory, "data"), ipam, list);
    const netns = join(directory, "netns");
    // The kernel answers that the namespace is gone, however long valgrind takes and whatever else comes and goes on this node.
    withHighNumber(() => mountNamespace(t, netns));
    for (let at = 0; at < count; at++) {
      run(executable, attachmentCall("ADD", { containerId: `c${at}`, netns }, document));
    }
    spawnSync("umount", ["--lazy", netns]);
    const { environment, stdin } = networkCall("GC", document);
    const left = () => readdirSync(join(directory, "data/net")).filter((name) => /:/.test(name));
    // GC keeps what is young.
    spawnSync("sleep", ["2.1"]);
    let counted = 0;
    for (let tries = MOST_TRIES; tries > 0 && left().length === count; tries--) {
      counted = countInstructions(executable, environment, stdin, directory);
    }
    t.same(left(), [], "all are released");
    return counted;
  });
  t.ok(Number(twice) < 2.2 * Number(some), `${some} and ${twice}`);
  t.end();
});

test("an IPv6 ADD takes little more than one of IPv4", { skip }, async (t) => {
  const directory = t.testdir();
  const [four, six] = ["198.51.100.0/24", "2001:db8::/64"].map((subnet) =>
    counter(directory, subnet)("ADD"),
  );
  t.ok(Number(six) <= LARGEST_RATIO * Number(four), `${six} and ${four}`);
});
