// test: native executable
/** Tables on a terminal of 80 columns, with names as long as real ones. */

import { test } from "tap";
import { atTerminal, skipWithoutTerminal } from "../harness/terminal.ts";
import { type Node, nodeFor } from "./node.ts";

const ID = "85578c0866ac31a8733296f62a3c7c3b4d892cc183782465d6d1e7c2b71968b9";
const POD = "ingress-nginx/ingress-nginx-controller-6c8f5d9d4-qwert";

function nodeWithPod(t: Parameters<typeof nodeFor>[0]): Node {
  const node = nodeFor(t);
  const ranges = [[{ subnet: "203.0.113.0/24" }], [{ subnet: "2001:db8:244:3::/64" }]];
  node.network("k8s-pod-network", { ranges });
  node.call("ADD", "k8s-pod-network", ID);
  for (const address of ["203.0.113.2", "2001:db8:244:3::2"]) {
    node.age(`k8s-pod-network/${address}`, 7300);
  }
  node.remember("k8s-pod-network", ID, POD);
  return node;
}

/** The lines of a table, from its headings to an empty line or a question. */
function tableIn(screen: string): readonly string[] {
  const lines = screen.split("\n").map((line) => line.replace(/\r/g, ""));
  const from = lines.findIndex((line) => /\bADDRESS\b/.test(line));
  const length = lines.slice(from).findIndex((line) => line === "" || line.startsWith("Release "));
  return lines.slice(from, from + length);
}

for (const words of [
  ["list"],
  ["release", ID],
  ["gc", "--live-command", "echo 0123456789ab", "--now", "--force"],
]) {
  test(`${words[0]} shortens ids and keeps to the width`, {
    skip: skipWithoutTerminal,
  }, async (t) => {
    const { stdout } = atTerminal(nodeWithPod(t).line(words), "n\n", { COLUMNS: "80" });

    const table = tableIn(stdout);
    t.ok(table.length > 2, stdout);
    t.match(table.join("\n"), / 85578c0866ac3 /);
    t.notMatch(table.join("\n"), ID);
    t.strictSame(
      // A terminal breaks a sentence, but not a row.
      table.filter((line) => line.length > 80 && !line.startsWith("Whether ")),
      [],
    );
  });
}

test("check shortens the ids in messages", { skip: skipWithoutTerminal }, async (t) => {
  const node = nodeWithPod(t);
  node.write("k8s-pod-network/198.51.100.9", `${ID}\r\neth0`);

  const { stdout } = atTerminal(node.line(["check"]), "", { COLUMNS: "300" });

  t.match(stdout, /out-of-range .* \(container 85578c0866ac3\)/);
  t.notMatch(stdout, ID);
  t.match(node.tool(["check"]).stdout, ID);
});

test("a change of IPv6 settings keeps to the width", { skip: skipWithoutTerminal }, async (t) => {
  const change = ["--cluster-cidr", "2001:db8:240::/48", "--was-cluster-cidr", "2001:db8:244::/49"];

  const { stdout } = atTerminal(["plan", ...change], "", { COLUMNS: "80" });

  const table = stdout.slice(stdout.indexOf("The change"), stdout.indexOf("KEEP, OTHER SIZE"));
  t.match(table, /OTHER SIZE/);
  t.strictSame(
    table.split("\n").filter((line) => line.length > 80),
    [],
  );
});
