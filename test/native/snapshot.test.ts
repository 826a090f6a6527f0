// test: native executable, full extent only, slow
/** The build keeps nothing of the machine that builds when it runs the program. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { buildNative } from "../../scripts/build/native.ts";
import { run } from "../harness/executable.ts";

/** Builds an executable with this text as its program, in a directory whose path no tool may split. */
function build(t: Pick<Test, "testdir">, program: string): Promise<string> {
  const directory = join(t.testdir({ "a, b": {} }), "a, b");
  const plugin = join(directory, "program.js");
  writeFileSync(plugin, program);
  return buildNative({ plugin, work: directory, output: join(directory, "host-local") });
}

const serve = "host.serve = () => {};";

test("a call begins where the top level of the program ended", async (t) => {
  const executable = await build(
    t,
    'const made = ["at build time"]; host.serve = () => { host.writeStandardOutput(made.join()); host.exit(7); };',
  );
  const { exitCode, stdout } = run(executable, { environment: { CNI_COMMAND: "ADD" }, stdin: "" });
  t.same({ exitCode, stdout }, { exitCode: 7, stdout: "at build time" });
});

const questions = [
  ["the time of the engine", "Date.now();"],
  ["the environment", 'host.environment("HOME");'],
  ["a file, although it goes on without", 'try { host.readFile("/etc/hostname", 1); } catch {}'],
  ["the time of the host", "host.now();"],
  ["the time zone", "new Date(0).getTimezoneOffset();"],
] as const;

for (const [what, program] of questions) {
  test(`the build fails if the top level asks for ${what}`, async (t) => {
    await t.rejects(build(t, `${program} ${serve}`), /The snapshot cannot be made/);
  });
}

test("the build fails if the program throws, or serves nothing", async (t) => {
  await t.rejects(
    build(t, `null.x; ${serve}`),
    /The snapshot cannot be made: host-local: TypeError/,
  );
  await t.rejects(build(t, "let unused = 1;"), /The snapshot cannot be made/);
});
