// test: each executable
/** The executable is the `static` plugin if it is called by that name. */

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { ExecutableMachine } from "../harness/executable-network.ts";
import { attachmentCall, runtimeEnvironment } from "../harness/runtime-call.ts";
import { answersAsExpected } from "./answers.ts";
import { shortSample } from "./short-sample.ts";
import { staticLink } from "./static/link.ts";
import { readVectors } from "./vectors.ts";

const vectors = readVectors("static");

for (const vector of shortSample(vectors)) {
  test(vector.id, async (t) => {
    answersAsExpected(t, new ExecutableMachine(t), vector, [], { program: staticLink(t) });
  });
}

test("no recording of static got lost", async (t) => {
  t.equal(new Set(vectors.map(({ id }) => id)).size, 54);
});

test("a file of that name is the plugin, too, and keeps no state", async (t) => {
  const directory = scratchDirectory(t);
  const program = join(directory, "static");
  copyFileSync(executable, program);
  const ips = [{ address: "198.51.100.5/24", gateway: "198.51.100.1" }];
  const document = { cniVersion: "1.1.0", name: "net", ipam: { type: "static", addresses: ips } };
  const call = (verb: string, members: object = {}) =>
    run(program, attachmentCall(verb, { containerId: "c1" }, { ...document, ...members }));

  const added = call("ADD");

  t.same(JSON.parse(added.stdout), { cniVersion: "1.1.0", ips });
  const prevResult = JSON.parse(added.stdout);
  const silent = { exitCode: 0, stdout: "", stderr: "" };
  t.same([call("CHECK", { prevResult }), call("DEL")], [silent, silent]);
  t.same(
    treeOf(directory).map(({ path }) => path),
    ["static"],
  );
});

test("it has no operator commands: arguments are ignored", async (t) => {
  const call = { environment: runtimeEnvironment, stdin: "", arguments: ["list"] };

  const { exitCode, stdout, stderr } = run(staticLink(t), call);

  t.same([exitCode, stdout], [0, ""]);
  t.match(stderr, /^CNI static plugin v/);
});

test("under any other name the executable is host-local", async (t) => {
  const program = join(scratchDirectory(t), "static.previous");
  copyFileSync(executable, program);
  t.match(run(program, { environment: {}, stdin: "" }).stderr, /^CNI host-local plugin /);
});
