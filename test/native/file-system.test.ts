// test: native executable, full extent only, slow
/** The calls of `System`, made by the C host: every case of the table that Node.js and the machine in memory pass. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "tap";
import { buildNative } from "../../scripts/build/native.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { run } from "../harness/executable.ts";
import { fileSystemCases } from "../system/file-system-cases.ts";
import { putFiles } from "../system/real-files.ts";

/** Runs each case in a directory of its own, and prints the outcomes; `undefined` and bigints as text. */
function program(root: string): string {
  const from = (path: string): string => JSON.stringify(resolve(path));
  return `
    import { createQuickJsSystem } from ${from("src/system/quickjs/quickjs-system.ts")};
    import { fileSystemCases, outcomeOf } from ${from("test/system/file-system-cases.ts")};
    host.serve = () => {
      const system = createQuickJsSystem();
      const outcomes = fileSystemCases.map((one, at) => {
        const root = ${JSON.stringify(root)} + "/" + at;
        return outcomeOf(one, system, root);
      });
      const text = (_, value) => (typeof value === "bigint" ? value + "n" : value);
      system.writeStandardOutput(JSON.stringify(outcomes, text));
      system.exit(0);
    };`;
}

test("the C host does what every system does, under the sanitizers", async (t) => {
  const directory = scratchDirectory(t);
  mkdirSync(join(directory, "root"));
  const plugin = join(directory, "program.ts");
  writeFileSync(plugin, program(join(directory, "root")));
  for (const [at, fileSystemCase] of fileSystemCases.entries()) {
    const root = join(directory, "root", `${at}`);
    mkdirSync(root);
    putFiles(root, fileSystemCase);
  }
  const work = join(directory, "work");
  const output = join(directory, "host-local");
  const executable = await buildNative({ checked: true, plugin, work, output });

  const { exitCode, stdout, stderr } = run(executable, {
    environment: { CNI_COMMAND: "ADD" },
    stdin: "",
  });

  t.same({ exitCode, stderr }, { exitCode: 0, stderr: "" });
  const text = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}n` : value);
  const expected: unknown = JSON.parse(
    JSON.stringify(
      fileSystemCases.map((fileSystemCase) => fileSystemCase.expected ?? null),
      text,
    ),
  );
  const outcomes: unknown = JSON.parse(stdout);
  for (const [at, { name }] of fileSystemCases.entries()) {
    t.same((outcomes as readonly unknown[])[at], (expected as readonly unknown[])[at], name);
  }
});
