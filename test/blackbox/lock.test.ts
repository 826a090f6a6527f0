// test: each executable
/** The lock of a network: waiting is bounded, and a dead holder is no holder. */

import { spawn } from "node:child_process";
import { test } from "tap";
import { ownDirectory } from "../harness/data-directory.ts";
import { executable, run, start } from "../harness/executable.ts";
import { holdLock } from "../harness/held-lock.ts";
import { readError } from "../harness/printed-error.ts";
import { attachmentCall, configuration, networkCall } from "../harness/runtime-call.ts";
import { grantedAddresses, networkFor } from "./network.ts";

const five = { subnet: "10.0.0.0/29" };
const short = { ...five, lockTimeoutSeconds: 0.3 };
const nothingValid = { "cni.dev/valid-attachments": [], "cni.dev/attachments": [] };
const c1 = { containerId: "c1" };

/** The portable executable knows only holders that took its own lock. */

/** Shorter than the time-out that holds where none is asked for, in milliseconds. */
const shorterThanDefault = 25_000;

for (const command of ["ADD", "DEL", "GC"] as const) {
  test(`${command} gives up with code 11 while another holds the lock, and changes nothing`, async (t) => {
    const network = networkFor(t, short, [{ path: "net/10.0.0.5", content: "c1\r\neth0" }]);
    await holdLock(t, network.directory);
    const before = network.tree();
    const document = configuration(network.directory, short, nothingValid);
    const call =
      command === "GC" ? networkCall(command, document) : attachmentCall(command, c1, document);
    const began = performance.now();

    const outcome = await start(executable, call);

    t.equal(outcome.exitCode, 1);
    t.equal(readError(outcome.stdout)?.code, 11);
    t.match(readError(outcome.stdout)?.details, "lockTimeoutSeconds");
    t.ok(performance.now() - began < shorterThanDefault, "in the time asked for");
    t.same(network.tree(), before);
  });
}

test("details end with the trace of the call; the holder's is named, too, if /proc shows the holder", async (t) => {
  const [own, other] = ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"];
  const network = networkFor(t, short);
  await holdLock(t, network.directory, { TRACEPARENT: `00-${other}-b7ad6b7169203331-01` });
  const { environment, stdin } = attachmentCall("ADD", c1, configuration(network.directory, short));

  const { stdout } = await start(executable, {
    environment: { ...environment, TRACEPARENT: `00-${own}-00f067aa0ba902b7-01` },
    stdin,
  });

  const details = readError(stdout)?.details ?? "";
  t.ok(details.endsWith(`; trace ${own}`), details);
  t.match(details, `(flock), trace ${other}; nothing was changed`);
  t.end();
});

test("a TRACEPARENT that is no trace changes nothing", (t) => {
  const call = attachmentCall("ADD", c1, configuration("/none", {}));
  const plain = run(executable, call);

  for (const TRACEPARENT of ["", "garbage", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`]) {
    t.same(run(executable, { ...call, environment: { ...call.environment, TRACEPARENT } }), plain);
  }
  t.end();
});

test("CHECK and STATUS do not wait for the lock", async (t) => {
  const network = networkFor(t, short, [{ path: "net/10.0.0.5", content: "c1\r\neth0" }]);
  await holdLock(t, network.directory);
  const document = configuration(network.directory, short);
  const silent = { exitCode: 0, stdout: "", stderr: "" };

  t.same(await start(executable, attachmentCall("CHECK", c1, document)), silent);
  t.same(await start(executable, networkCall("STATUS", document)), silent);
});

test("the lock of one network does not stop another", async (t) => {
  const network = networkFor(t, short);
  await holdLock(t, network.directory);
  const document = configuration(network.directory, short, { name: "other" });

  const outcome = await start(executable, attachmentCall("ADD", c1, document));

  t.same(grantedAddresses(outcome), ["10.0.0.2"]);
});

test("an ADD that waited gets its address once the lock is free", async (t) => {
  const network = networkFor(t, { ...five, lockTimeoutSeconds: 60 });
  const release: (() => void)[] = [];
  await holdLock({ teardown: (free) => release.push(() => free?.()) }, network.directory);

  const waiting = network.begin("ADD", "c1");
  t.same(network.reserved(), []);
  for (const free of release) {
    free();
  }

  t.same(grantedAddresses(await waiting), ["10.0.0.2"]);
});

test("the lock of a killed process does not stop the next call", async (t) => {
  const network = networkFor(t, five);
  const kill = await holdLock(t, network.directory);

  await kill();

  t.same(grantedAddresses(network.add("c1")), ["10.0.0.2"]);
});

test("the lock of a version that used a directory does not stop a call", (t) => {
  const network = networkFor(t, five, [{ path: `${ownDirectory}/net/lock/` }]);

  t.same(grantedAddresses(network.add("c1")), ["10.0.0.2"]);
  t.end();
});

test("however early or late an ADD is killed, the next one works and all files are whole", async (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/24" });
  const killed = Array.from({ length: 24 }, (_, index) => `killed-${index}`);

  for (const [index, containerId] of killed.entries()) {
    const call = attachmentCall(
      "ADD",
      { containerId },
      configuration(network.directory, { subnet: "10.0.0.0/24" }),
    );
    await killAfter(3 * index, call.environment, call.stdin);
  }

  const outcome = network.add("survivor");
  t.equal(outcome.exitCode, 0, outcome.stdout);
  for (const { path, content } of network.tree()) {
    if (path.startsWith("net/10.")) {
      t.match(content, /^(killed-\d+|survivor)\r\neth0$/, `${path} is whole`);
    }
  }
  for (const containerId of [...killed, "survivor"]) {
    t.equal(network.del(containerId).exitCode, 0);
  }
  t.same(network.reserved(), []);
});

/** Starts an ADD, and kills it some milliseconds later wherever it then is. */
function killAfter(
  milliseconds: number,
  environment: Readonly<Record<string, string>>,
  stdin: string | Uint8Array,
): Promise<unknown> {
  return new Promise((ended) => {
    const child = spawn(executable, {
      env: { ...environment },
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    child.on("close", ended);
    setTimeout(() => child.kill("SIGKILL"), milliseconds);
  });
}
