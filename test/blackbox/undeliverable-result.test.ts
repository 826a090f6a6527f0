// test: each executable
/** A result that its reader cannot receive is taken back, any other is complete. More: test/faults/executables/streams.ts. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "tap";
import { executable, run } from "../harness/executable.ts";
import { networkFor } from "../harness/executable-network.ts";

const five = { subnet: "198.51.100.0/29" };

test("ADD with standard output a socket whose reader is gone reserves nothing and fails", async (t) => {
  const network = networkFor(t, five);
  const { environment, stdin } = network.callFor("ADD", "c1");
  const child = spawn(executable, { env: { ...environment } });
  // The plugin waits for its input, so its reader is certainly gone when it has a result.
  child.stdout.destroy();
  await once(child.stdout, "close");
  child.stdin.end(stdin);

  t.same(await once(child, "exit"), [1, null]);
  t.same(network.reserved(), []);
});

test("ADD writes a result larger than a pipe holds whole", async (t) => {
  const routes = Array.from({ length: 4000 }, (_, index) => ({
    dst: `2001:db8:${(index + 1).toString(16)}::/48`,
    gw: "2001:db8::1",
  }));

  const { exitCode, stdout } = networkFor(t, { ...five, routes }).add("c1");

  t.equal(exitCode, 0);
  t.strictSame(JSON.parse(stdout).routes, routes);
});

test("ADD with its output thrown away on purpose succeeds", async (t) => {
  const network = networkFor(t, five);

  const { exitCode } = run("/bin/sh", {
    ...network.callFor("ADD", "c1"),
    arguments: ["-c", 'exec "$0" >/dev/null', executable],
  });

  t.equal(exitCode, 0);
  t.same(network.reserved(), ["198.51.100.2"]);
});
