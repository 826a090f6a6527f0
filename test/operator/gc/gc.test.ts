// test: each executable, one if short, each architecture
/** `gc` on real directories. */

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, openSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { t as root, type Test, test } from "tap";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { holdLock } from "../../harness/held-lock.ts";
import { startStranger } from "../../harness/network-namespaces.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { runAsPrinted } from "../../harness/tool.ts";
import { isRoot, withoutPrivileges } from "../../harness/unprivileged.ts";
import { nodeFor } from "../node.ts";
import { HOUR, listOf, type NodeWithPods, nodeWithPods, withOthers } from "./pods-on-node.ts";

// Only the list tells here.
await startStranger(root);

function podsOn(t: Test, ...ids: readonly string[]): NodeWithPods {
  return nodeWithPods(t, "10.7.3", ids);
}

const liveIds = (...ids: readonly string[]) => ({ stdin: `${withOthers(ids).join("\n")}\n` });

test("a dry run prints the dead reservations and releases nothing", async (t) => {
  const node = podsOn(t, "c1", "c2", "c3");

  t.same(node.tool(["gc", "--live", "-", "--now"], liveIds("c1")), {
    exitCode: 1,
    stdout: [
      "NETWORK  ADDRESS   CONTAINER  INTERFACE  STATE",
      "net      10.7.3.3  c2         eth0       dead; released with --yes",
      "net      10.7.3.4  c3         eth0       dead; released with --yes",
      "",
      "3 reservations: 1 alive, 0 in the grace period, 0 unknown, 0 without a container, 2 dead; 0 released",
      `To release: host-local gc --yes --live - --now --conf-dir ${node.confDir} --data-dir ${node.dataDir} --cache-dir ${node.cacheDir}`,
      "",
    ].join("\n"),
    stderr: "",
  });
  t.same(node.reserved(), ["10.7.3.2", "10.7.3.3", "10.7.3.4"]);
});

test("two runs a grace period apart release what both found dead", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const run = () => node.json(["gc", "--live", "-", "--yes"], liveIds("c1"));

  t.match(run(), { exitCode: 0, document: { dead: [{ address: "10.7.3.3", state: "waiting" }] } });
  node.letTimePass(9 * 60);
  t.match(run(), { exitCode: 0, document: { dead: [{ state: "waiting" }] } });
  t.same(node.reserved(), ["10.7.3.2", "10.7.3.3"]);

  node.letTimePass(2 * 60);
  t.match(run(), { exitCode: 0, document: { dead: [{ state: "released" }] } });
  t.same(node.reserved(), ["10.7.3.2"]);
  t.match(JSON.parse(node.read(".host-local/net/collection.json")), { seenDead: [] });
  t.match(run(), { exitCode: 0, document: { dead: [] } });
});

test("--log prints only what was released", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const run = (...words: readonly string[]) =>
    node.tool(["gc", "--live", "-", "--log", ...words], liveIds("c1"));

  t.match(run(), { exitCode: 1, stdout: "", stderr: "" });
  t.match(run("--yes"), { exitCode: 0, stdout: "", stderr: "" });
  t.match(run("--yes", "--now"), {
    exitCode: 0,
    stdout: "host-local: gc: released 10.7.3.3 of net, held by c2\n",
    stderr: "",
  });
  t.match(run("--json"), {
    exitCode: 2,
    stdout: "",
    stderr: /^host-local: gc: --log: cannot be combined with --json\n/,
  });
});

test("the document has counts for each network, and every dead reservation", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const time = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z$/;

  const { exitCode, document } = node.json(["gc", "--live", "-", "--now"], liveIds("c1"));

  t.equal(exitCode, 1);
  t.match(document, {
    dryRun: true,
    refused: null,
    networks: [
      {
        network: "net",
        directory: join(node.dataDir, "net"),
        reservations: 2,
        alive: 1,
        unknown: 0,
        unowned: 0,
        young: 0,
        waiting: 0,
        due: 1,
        released: 0,
      },
    ],
    dead: [
      {
        network: "net",
        address: "10.7.3.3",
        container: "c2",
        interface: "eth0",
        since: time,
        seenDeadSince: time,
        state: "due",
        path: join(node.dataDir, "net/10.7.3.3"),
      },
    ],
  });
});

test("the first run says when the second may release", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const words = ["gc", "--live", "-", "--yes"];

  const { dead } = node.json(words, liveIds("c1")).document as {
    dead: readonly { seenDeadSince: string; releasableAfter: string }[];
  };
  const [{ seenDeadSince = "", releasableAfter = "" } = {}] = dead;
  t.equal(Date.parse(releasableAfter) - Date.parse(seenDeadSince), 600_000);
  const minute = new Date(Math.ceil(Date.parse(releasableAfter) / 60_000) * 60_000).toISOString();
  t.match(
    node.tool(words, liveIds("c1")).stdout,
    `${minute.slice(11, 16)} UTC, or now with --now\n`,
  );
});

test("more than half of a network, dead by the list alone, is refused without --force", async (t) => {
  const node = podsOn(t, "c1", "c2", "c3", "c4", "c5");
  const run = (live: readonly string[], ...words: readonly string[]) =>
    node.tool(["gc", "--live", "-", "--now", "--yes", ...words], liveIds(...live));

  t.match(run(["c1", "c2"]), {
    exitCode: 1,
    stderr:
      /net: 3 of 5 reservations are dead by the list alone; nothing is released by the list there/,
  });
  t.equal(node.reserved().length, 5);
  t.equal(run(["c1", "c2", "c3"]).exitCode, 0, "two of five are fewer than half");
  t.equal(run(["c1"]).exitCode, 0, "two of three are few");
  t.same(node.reserved(), ["10.7.3.2"]);

  const crashed = podsOn(t, "c1", "c2", "c3", "c4", "c5");
  t.equal(
    crashed.tool(["gc", "--live", "-", "--now", "--yes", "--force"], liveIds("c1")).exitCode,
    0,
  );
  t.same(crashed.reserved(), ["10.7.3.2"]);
});

test("ids without containerd's namespace are refused where the reservations have it", async (t) => {
  const node = podsOn(t, "default-web", "default-db");
  const words = ["gc", "--live", "-", "--now", "--yes", "--force"];

  t.match(node.tool(words, liveIds("web", "db")), {
    exitCode: 1,
    stderr:
      /have the form NAMESPACE-ID, as default-web, .* 'ns=\$\(ctr namespaces ls -q\) && for n/,
  });
  t.equal(node.reserved().length, 2);
  t.equal(node.tool(words, liveIds("default-web")).exitCode, 0);
  t.same(node.reserved(), ["10.7.3.2"]);
});

test("a message names the list of the network's runtime", async (t) => {
  const node = nodeFor(t);
  const ipam = { type: "host-local", dataDir: node.dataDir, subnet: "10.7.3.0/24" };
  const plugins = [{ type: "bridge", ipam }];
  node.configure("nerdctl-bridge.conflist", { cniVersion: "1.0.0", name: "net", plugins });
  node.write("net/10.7.3.2", "c1\r\neth0", HOUR);

  t.match(node.tool(["gc", "net", "--yes"]), {
    exitCode: 1,
    stderr: "A list decides: host-local gc net --live-command 'ns=$(ctr namespaces ls -q) && for n",
  });
});

test("what is younger than the grace period is kept, --now or not", async (t) => {
  const node = podsOn(t, "c1", "c2");
  node.age("net/10.7.3.3", 9 * 60);
  const run = (...words: readonly string[]) =>
    node.json(["gc", "--live", "-", "--now", "--yes", ...words], liveIds("c1"));

  t.match(run(), { exitCode: 0, document: { networks: [{ young: 1, due: 0 }] } });
  t.same(node.reserved(), ["10.7.3.2", "10.7.3.3"]);
  t.match(run("--grace", "5m"), { exitCode: 0, document: { networks: [{ released: 1 }] } });
  t.same(node.reserved(), ["10.7.3.2"]);
  t.match(node.tool(["gc", "--live", "-", "--grace", "soon"]), { exitCode: 2, stderr: /--grace/ });
});

test("a list in a file has the time of the file", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const list = join(scratchDirectory(t), "live");
  writeFileSync(list, `${withOthers(["c1"]).join("\n")}\n`);
  const date = (seconds: number): void => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(list, time, time);
  };
  const run = () => node.json(["gc", "--live", list, "--yes"]);

  date(2 * HOUR);
  t.match(run(), { document: { networks: [{ young: 1, alive: 1 }] } });
  date(HOUR / 2);
  t.match(run(), { document: { networks: [{ waiting: 1 }] } });
  t.match(run(), { document: { networks: [{ waiting: 1 }] } }, "the same list is not a second run");
  date(0);
  t.match(run(), { document: { networks: [{ released: 1 }] } });
  t.match(node.tool(["gc", "--live", `${list}.none`]), { exitCode: 2, stderr: /no such file/ });
});

const empty: readonly (readonly [string, readonly string[], string])[] = [
  ["an empty list", ["--live", "-"], ""],
  ["a list of empty lines", ["--live", "-"], "\n  \n"],
  ["a command without output", ["--live-command", "true"], ""],
];

for (const [name, source, stdin] of empty) {
  test(`${name} releases nothing without --force`, async (t) => {
    const node = podsOn(t, "c1");

    const refused = node.tool(["gc", ...source, "--now", "--yes"], { stdin });
    t.match(refused, { exitCode: 1, stderr: /list of live containers is empty/ });
    t.same(node.reserved(), ["10.7.3.2"]);
    t.notOk(existsSync(join(node.dataDir, ".host-local/net/collection.json")));

    const words = ["gc", ...source, "--now", "--yes", "--force"];
    t.match(node.tool(words, { stdin }), { exitCode: 0, stderr: "" });
    t.same(node.reserved(), []);
  });
}

test("an empty list is fine where nothing is reserved", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.7.3.0/24" });

  t.match(node.tool(["gc", "--live", "-", "--yes"]), { exitCode: 0, stderr: "" });
});

test("a command is run by the shell, and only its success counts", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const run = (command: string) =>
    node.tool(["gc", "--live-command", command, "--now", "--yes", "--force"]);

  t.match(run("false | echo c1"), { exitCode: 2, stderr: /exit code 1; nothing was released/ });
  t.match(run("echo c1; exit 3"), { exitCode: 2, stderr: /exit code 3; nothing was released/ });
  t.match(run("no-such-program-here"), { exitCode: 2, stderr: /exit code 127/ });
  t.same(node.reserved(), ["10.7.3.2", "10.7.3.3"]);

  t.equal(run("echo c1 | cat").exitCode, 0);
  t.same(node.reserved(), ["10.7.3.2"]);
});

test("a list without any pod of a network is refused there, in every run", async (t) => {
  const node = podsOn(t, "c1");
  node.write("other/10.7.5.2", "o1\r\neth0", HOUR);
  node.write("other/10.7.5.3", "o2\r\neth0", HOUR);
  const doubt = {
    exitCode: 1,
    stderr: /net: 1 of 1 reservations are dead by the list alone; nothing is released by the list/,
  };

  for (const words of [[], ["--now"]]) {
    const outcome = node.tool(
      ["gc", "--live", "-", "--yes", "--grace", "0s", ...words],
      liveIds("o1"),
    );
    t.match(outcome, doubt);
  }

  t.same(node.reserved(), ["10.7.3.2"]);
  t.throws(
    () => node.read("other/10.7.5.3"),
    { code: "ENOENT" },
    "the other network is cleaned up",
  );
});

test("a failure to record is an error: no later run would be the second", async (t) => {
  const node = podsOn(t, "c1", "c2");
  mkdirSync(join(node.dataDir, ".host-local/net/collection.json"));

  t.match(node.tool(["gc", "--live", "-", "--yes"], liveIds("c1")), {
    exitCode: 1,
    stderr: /cannot record dead reservations/,
  });
});

test("that the time of a run cannot be recorded is none, nor is a network without a directory", async (t) => {
  const node = podsOn(t, "c1");
  mkdirSync(join(node.dataDir, ".host-local/net/collection.json"));
  node.network("unused", { subnet: "10.7.9.0/24" });

  t.match(node.tool(["gc", "--live", "-", "--yes"], liveIds("c1")), { exitCode: 0, stderr: "" });
  t.notOk(existsSync(join(node.dataDir, ".host-local/unused")));
});

test("a file as standard input has the time of the file", async (t) => {
  const node = podsOn(t, "c1", "c2");
  const list = join(scratchDirectory(t), "live");
  writeFileSync(list, `${withOthers(["c1"]).join("\n")}\n`);
  utimesSync(list, Date.now() / 1000 - 2 * HOUR, Date.now() / 1000 - 2 * HOUR);
  const words = node.line(["gc", "--live", "-", "--now", "--yes"]);

  const { status } = spawnSync(executable, words, {
    env: runtimeEnvironment,
    stdio: [openSync(list, "r"), "pipe", "inherit"],
  });

  t.equal(status, 0);
  t.same(node.reserved(), ["10.7.3.2", "10.7.3.3"], "both were made after the list");
});

test("one network, or all that have a directory", async (t) => {
  const node = podsOn(t, "c1");
  node.write("old/10.7.3.5", "c5\r\neth0", HOUR);
  const dead = (...words: readonly string[]) =>
    node.json(["gc", ...words, "--live", "-", "--now", "--force"], liveIds("c9"));

  t.match(dead("net"), { document: { dead: [{ network: "net" }], networks: { length: 1 } } });
  t.match(dead(), { document: { dead: [{ network: "net" }, { network: "old" }] } });
  t.equal(node.tool(["gc", "none", "--live", "-"]).exitCode, 2);
});

test("a file and commands exclude each other", async (t) => {
  const node = podsOn(t, "c1");

  t.match(node.tool(["gc", "--live", "-", "--live-command", "true"]), {
    exitCode: 2,
    stderr: /--live: cannot be combined with --live-command/,
  });
});

test("the ids of several commands add up, and one that fails fails all", async (t) => {
  const node = podsOn(t, "c1", "c2", "c3");
  const run = (...commands: readonly string[]) =>
    node.tool(["gc", ...commands.flatMap((one) => ["--live-command", one]), "--now", "--yes"]);

  t.match(run("echo c1", "echo c2; exit 3"), { exitCode: 2, stderr: /c2; exit 3 failed with/ });
  t.equal(node.reserved().length, 3);
  t.equal(run(listOf("c1"), "echo c2").exitCode, 0);
  t.same(node.reserved(), ["10.7.3.2", "10.7.3.3"]);
});

test("within the grace period gc --now says which are kept, until when, and what to add", async (t) => {
  const node = podsOn(t, "c1", "c2", "c3");
  node.age("net/10.7.3.3", 60);
  node.age("net/10.7.3.4", 60);
  const run = (...words: readonly string[]) =>
    node.tool(["gc", "--live-command", listOf("c1"), "--yes", ...words]);

  t.match(run("--now"), {
    exitCode: 0,
    stdout:
      /10\.7\.3\.3 .* kept until (?:[-0-9]{10} )?[0-9]{2}:[0-9]{2} UTC, or with --grace 0s: younger than the grace period\n.*10\.7\.3\.4 .* kept until/,
  });
  t.notMatch(run().stdout, "kept until", "a timer says nothing of pods that start");
  t.equal(run("--now", "--grace", "0s").exitCode, 0);
  t.same(node.reserved(), ["10.7.3.2"]);
});

test("of a file that is dated in the future gc --now prints the date, and a command that releases it", async (t) => {
  const node = podsOn(t, "c1", "c2");
  node.age("net/10.7.3.3", -86_400);
  const run = (...words: readonly string[]) =>
    node.tool(["gc", "--live-command", listOf("c1"), "--yes", "--now", "--grace", "0s", ...words]);

  const { stdout } = run();
  const [, command = ""] =
    /10\.7\.3\.3 .* kept: its file is dated [-0-9]{10} [0-9]{2}:[0-9]{2} UTC, in the future, so its age is not known; to release it: (.*)\n/.exec(
      stdout,
    ) ?? [];
  t.equal(runAsPrinted(t, `${command} --yes --force`).exitCode, 0);
  t.same(node.reserved(), ["10.7.3.2"]);
});

test("without permission to read it stops with an error", async (t) => {
  const node = podsOn(t, "c1");
  chmodSync(join(node.dataDir, "net/10.7.3.2"), isRoot ? 0o600 : 0);

  const outcome = node.tool(["gc", "--live", "-", "--now"], {
    ...liveIds("c9"),
    ...withoutPrivileges(t),
  });

  t.match(outcome, { exitCode: 2, stderr: /permission denied; run as root/ });
});

test("gc changes nothing in a network that stays locked, and logs the error", async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "10.7.3.0/24", lockTimeoutSeconds: 1 });
  node.write("net/10.7.3.2", "c1\r\neth0", HOUR);
  await holdLock(t, node.dataDir);

  const { exitCode, stderr } = node.tool([
    ...["gc", "--live-command", "echo other", "--force", "--now", "--yes"],
  ]);

  t.equal(exitCode, 1);
  t.match(stderr, /network net is locked; gave up after 1 s/);
  t.equal(node.read("net/10.7.3.2"), "c1\r\neth0");
});
