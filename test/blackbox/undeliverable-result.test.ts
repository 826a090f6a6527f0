// test: each executable
/** A result that its reader cannot receive is taken back: the address would leak otherwise. */

import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory } from "../harness/data-directory.ts";
import { executable, type Outcome, run } from "../harness/executable.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { attachmentCall, configuration, versionCall } from "../harness/runtime-call.ts";

const five = { subnet: "10.0.0.0/29" };

function addCall(network: ExecutableNetwork) {
  return attachmentCall(
    "ADD",
    { containerId: "c1" },
    configuration(network.machine.dataDirectory, five),
  );
}

/** Runs a call with standard output on an open file, and closes that. */
function runInto(file: number, call: ReturnType<typeof addCall>): Outcome {
  const child = spawnSync(executable, {
    env: { ...call.environment },
    input: call.stdin,
    stdio: ["pipe", file, "pipe"],
  });
  closeSync(file);
  return { exitCode: child.status, stdout: "", stderr: child.stderr.toString("utf8") };
}

test("ADD with standard output a socket whose reader is gone reserves nothing and fails", async (t) => {
  const network = networkFor(t, five);
  const call = addCall(network);
  const child = spawn(executable, { env: { ...call.environment } });
  // The plugin waits for its input; so its reader is surely gone when it has a result.
  child.stdout.destroy();
  await new Promise((closed) => child.stdout.once("close", closed));
  child.stdin.end(call.stdin);

  const exitCode = await new Promise((ended) => child.once("exit", ended));

  t.equal(exitCode, 1);
  t.same(network.reserved(), []);
});

test("ADD writes a result larger than a pipe holds whole", async (t) => {
  const routes = Array.from({ length: 4000 }, (_, index) => ({
    dst: `10.${index >> 8}.${index & 255}.0/24`,
    gw: "10.0.0.1",
  }));

  const { exitCode, stdout } = networkFor(t, { ...five, routes }).add("c1");

  t.equal(exitCode, 0);
  t.strictSame(JSON.parse(stdout).routes, routes);
});

test("ADD into a file writes the whole result there", async (t) => {
  const network = networkFor(t, five);
  const file = join(scratchDirectory(t), "result.json");

  const outcome = runInto(openSync(file, "w"), addCall(network));

  t.equal(outcome.exitCode, 0);
  t.strictSame(JSON.parse(readFileSync(file, "utf8")).ips, [
    { address: "10.0.0.2/29", gateway: "10.0.0.1" },
  ]);
});

test("ADD with its output thrown away on purpose succeeds", async (t) => {
  const network = networkFor(t, five);

  const outcome = run("/bin/sh", {
    ...addCall(network),
    arguments: ["-c", 'exec "$0" >/dev/null', executable],
  });

  t.equal(outcome.exitCode, 0);
  t.same(network.reserved(), ["10.0.0.2"]);
});

test("an error that cannot be delivered is logged on standard error", async (t) => {
  const outcome = runInto(openSync("/dev/full", "w"), versionCall());

  t.equal(outcome.exitCode, 1);
  t.match(
    outcome.stderr,
    /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d Error writing error JSON to stdout: write \/dev\/stdout: no space left on device\n$/,
  );
});
