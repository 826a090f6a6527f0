// test: each executable
/** Called as `static`, the executable is that plugin. */

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, type Outcome, run } from "../harness/executable.ts";
import { ExecutableMachine } from "../harness/executable-network.ts";
import { readError } from "../harness/printed-error.ts";
import {
  attachmentCall,
  type JsonObject,
  networkCall,
  runtimeEnvironment,
} from "../harness/runtime-call.ts";
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

const ipam = { type: "static", addresses: [{ address: "10.61.0.5/24", gateway: "10.61.0.1" }] };
const document: JsonObject = { cniVersion: "1.1.0", name: "net", type: "bridge", ipam };
const c1 = { containerId: "c1" };
const silent = { exitCode: 0, stdout: "", stderr: "" };

function attached(program: string, verb: "ADD" | "DEL", netns = "/none"): Outcome {
  return run(program, attachmentCall(verb, { ...c1, netns }, document));
}

test("a file of that name is the plugin, too, and keeps no state", async (t) => {
  const directory = scratchDirectory(t);
  const program = join(directory, "static");
  copyFileSync(executable, program);

  const { exitCode, stdout } = attached(program, "ADD");

  t.equal(exitCode, 0);
  t.same(JSON.parse(stdout).ips, [{ address: "10.61.0.5/24", gateway: "10.61.0.1" }]);
  const check = attachmentCall("CHECK", c1, { ...document, prevResult: JSON.parse(stdout) });
  t.same(run(program, check), silent);
  t.same(attached(program, "DEL"), silent);
  t.same(
    treeOf(directory).map(({ path }) => path),
    ["static"],
  );
});

test("GC and STATUS of CNI 1.1 do nothing, and earlier versions do not have them", async (t) => {
  const program = staticLink(t);
  for (const verb of ["GC", "STATUS"] as const) {
    t.same(run(program, networkCall(verb, { ...document, ipam: 5 })), silent);
    const older = run(program, networkCall(verb, { ...document, cniVersion: "1.0.0" }));
    t.match(readError(older.stdout), { code: 1, msg: `config version does not allow ${verb}` });
  }
});

test("the plugin's own network namespace is refused", async (t) => {
  const program = staticLink(t);
  for (const verb of ["ADD", "DEL"] as const) {
    t.equal(readError(attached(program, verb, "/proc/self/ns/net").stdout)?.code, 8);
  }
});

test("it has no operator commands: arguments are ignored", async (t) => {
  const { exitCode, stdout, stderr } = run(staticLink(t), {
    environment: runtimeEnvironment,
    stdin: "",
    arguments: ["list"],
  });

  t.same([exitCode, stdout], [0, ""]);
  t.match(stderr, /^CNI static plugin v.*\nCNI protocol versions supported: .*\n$/);
});

test("under any other name the executable is host-local", async (t) => {
  const program = join(scratchDirectory(t), "static.previous");
  copyFileSync(executable, program);
  t.match(run(program, { environment: {}, stdin: "" }).stderr, /^CNI host-local plugin /);
});
