// test: each executable, one if short, each architecture
/** `gc` on real directories. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { t as root, type Test, test } from "tap";
import { shellCommand } from "../../../src/operator/next-command.ts";
import { startStranger } from "../../harness/network-namespaces.ts";
import { tool } from "../../harness/tool.ts";
import { HOUR, type NodeWithPods, nodeWithPods, withOthers } from "./pods-on-node.ts";

// Only the list tells here.
await startStranger(root);

function podsOn(t: Test, ...ids: readonly string[]): NodeWithPods {
  return nodeWithPods(t, "198.51.100", ids);
}

const liveIds = (...ids: readonly string[]) => ({ stdin: `${withOthers(ids).join("\n")}\n` });

test("a dry run prints the dead reservations and releases nothing", async (t) => {
  const node = podsOn(t, "c1", "c2", "c3");

  t.same(node.tool(["gc", "--live", "-", "--now"], liveIds("c1")), {
    exitCode: 1,
    stdout: [
      "NETWORK  ADDRESS       CONTAINER  INTERFACE  STATE",
      "net      198.51.100.3  c2         eth0       dead; released with --yes",
      "net      198.51.100.4  c3         eth0       dead; released with --yes",
      "",
      "3 reservations: 1 alive, 2 dead",
      `To release: ${shellCommand(["host-local", ...node.line(["gc", "--yes", "--live", "-", "--now"])])}`,
      "",
    ].join("\n"),
    stderr: "",
  });
  t.same(node.reserved(), ["198.51.100.2", "198.51.100.3", "198.51.100.4"]);
});

test("what two runs find dead is released", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const run = () => node.json(["gc", "--live", "-", "--grace", "0s", "--yes"], liveIds("c1"));

  t.match(run(), {
    exitCode: 0,
    document: { dead: [{ address: "198.51.100.3", state: "waiting" }] },
  });
  t.same(node.reserved(), ["198.51.100.2", "198.51.100.3"]);
  t.match(run(), { exitCode: 0, document: { dead: [{ state: "released" }] } });
  t.same(node.reserved(), ["198.51.100.2"]);
  t.strictSame((run().document as { dead: unknown }).dead, []);
});

test("what is younger than ten minutes is released with --now only if the grace period is none", async (t) => {
  const node = podsOn(t, "c1", "c2");
  node.age("net/198.51.100.3", 60);
  const { exitCode, stdout } = node.tool(["gc", "--live", "-", "--now", "--yes"], liveIds("c1"));
  t.equal(exitCode, 0);
  t.match(stdout, / 1 younger than 10m \(not judged until \d\d:\d\d UTC\)\n/);
  t.same(node.reserved(), ["198.51.100.2", "198.51.100.3"]);
  const none = ["gc", "--live", "-", "--now", "--grace", "0s", "--yes"];
  t.match(node.tool(none, liveIds("c1")).stdout, / 1 dead; 1 released\n/);
  t.same(node.reserved(), ["198.51.100.2"]);
});

test("one that is dated a day ahead of the clock is no younger than others", async (t) => {
  const node = podsOn(t, "c1", "c2");
  node.age("net/198.51.100.3", -86_400);
  t.equal(node.tool(["gc", "--live", "-", "--now", "--yes"], liveIds("c1")).exitCode, 0);
  t.same(node.reserved(), ["198.51.100.2"]);
});

test("--log prints only what was released", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const run = (...words: readonly string[]) =>
    node.tool(["gc", "--live", "-", "--log", ...words], liveIds("c1"));

  t.match(run(), { exitCode: 1, stdout: "", stderr: "" });
  t.match(run("--yes"), { exitCode: 0, stdout: "", stderr: "" });
  t.match(run("--yes", "--now"), {
    exitCode: 0,
    stdout: "host-local: gc: released 198.51.100.3 of net, held by c2\n",
    stderr: "",
  });
});

test("one network, or all that have a directory", async (t) => {
  const node = podsOn(t, "c1");
  node.write("old/198.51.100.5", "c5\r\neth0", HOUR);
  const dead = (...words: readonly string[]) =>
    node.json(["gc", ...words, "--live", "-", "--now", "--force"], liveIds("c9"));

  t.match(dead("net"), { document: { dead: [{ network: "net" }], networks: { length: 1 } } });
  t.match(dead(), { document: { dead: [{ network: "net" }, { network: "old" }] } });
});

test("the command that releases is that of the run, with what came from the environment", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const { confDir, dataDir, cacheDir } = node;
  const list = join(node.root, "live");
  writeFileSync(list, withOthers(["c1"]).join("\n"));
  const places = ["--data-dir", dataDir, "--cache-dir", cacheDir];
  const command = (...words: readonly string[]) => shellCommand(["host-local", "gc", ...words]);

  t.match(
    node.tool(["gc", "net", "--live", list, "--grace", "5m"]).stdout,
    `To release now: ${command("--now", "--yes", ...["net", "--live", list, "--grace", "5m"], "--conf-dir", confDir, ...places)}\n`,
  );
  const words = ["--live", list, "--now", ...places, "--", "net"];
  t.match(
    tool(["gc", ...words], { environment: { NETCONFPATH: confDir } }).stdout,
    `To release: ${command("--yes", "--conf-dir", confDir, ...words)}\n`,
  );
  node.tool(["gc", "--live", list, "--now", "--yes"]);
  t.notMatch(node.tool(["gc", "--live", list]).stdout, "To release", "there is nothing");
});

for (const [words, message] of [
  [["none"], /unknown network "none"/],
  [["--grace", "soon"], /--grace/],
  [["--log", "--json"], /--log: cannot be combined with --json/],
] as const) {
  test(`gc ${words.join(" ")} is wrong usage`, async (t) => {
    const outcome = podsOn(t).tool(["gc", ...words]);
    t.match(outcome, { exitCode: 2, stdout: "", stderr: message });
  });
}
