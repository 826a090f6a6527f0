/** One executable is plugin and tool, and a call of the plugin never loads the tool. */

import { join } from "node:path";
import esbuild, { type Metafile } from "esbuild";
import { test } from "tap";
import { root } from "../../scripts/bundle.ts";
import { optionsOf } from "../../src/operator/command/common-options.ts";
import { commands } from "../../src/operator/commands.ts";
import { scratchDirectory, treeOf } from "../blackbox/data-directory.ts";
import { executable, run } from "../blackbox/executable.ts";
import { attachmentCall, configuration } from "../blackbox/runtime-call.ts";
import { tool } from "./tool.ts";

test("without arguments and CNI_COMMAND it prints its version and points to --help", (t) => {
  for (const environment of [{}, { CNI_COMMAND: "" }] as const) {
    const { exitCode, stdout, stderr } = tool([], { environment });
    t.strictSame([exitCode, stdout], [0, ""]);
    t.match(
      stderr,
      /^CNI host-local plugin v.*\nCNI protocol versions supported: .*\nWith arguments it is a tool for operators: host-local --help\n$/,
    );
  }
  t.end();
});

test("an empty CNI_COMMAND counts as unset", (t) => {
  const { exitCode, stdout } = tool(["--help"], { environment: { CNI_COMMAND: "" } });
  t.equal(exitCode, 0);
  t.match(stdout, /^host-local: CNI IPAM plugin/);
  t.end();
});

test("with CNI_COMMAND it is the plugin, whatever the arguments are", (t) => {
  const directory = scratchDirectory(t);
  const call = attachmentCall(
    "ADD",
    { containerId: "c1" },
    configuration(directory, { subnet: "10.0.0.0/29" }),
  );
  const { exitCode, stdout } = run(executable, { ...call, arguments: ["list", "--json"] });
  t.equal(exitCode, 0);
  t.equal(JSON.parse(stdout).ips[0].address, "10.0.0.2/29");
  t.ok(treeOf(directory).some(({ path }) => path === "net/10.0.0.2"));
  const environment = { ...call.environment, CNI_COMMAND: "list" };
  const wrong = run(executable, { ...call, environment, arguments: ["list"] });
  t.equal(wrong.exitCode, 1);
  t.match(wrong.stdout, "unknown CNI_COMMAND: list");
  t.end();
});

test("--help names every command, and each has help with an example", (t) => {
  const overview = tool(["--help"]);
  t.strictSame([overview.exitCode, overview.stderr], [0, ""]);
  t.equal(tool(["help"]).stdout, overview.stdout);
  for (const command of commands) {
    const { name, operands, summary, examples } = command;
    t.match(overview.stdout, `  ${`${name} ${operands}`.trim()}`);
    const help = tool([name, "--help"]);
    t.strictSame([help.exitCode, help.stderr], [0, ""]);
    t.equal(tool(["help", name]).stdout, help.stdout);
    t.match(help.stdout, summary);
    for (const option of optionsOf(command)) t.match(help.stdout, ` ${option.name}`);
    t.ok(examples.length > 0, `${name} has an example`);
    for (const { line } of examples) t.match(help.stdout, line);
    t.ok(
      help.stdout.split("\n").every((line) => line.length <= 160),
      `the lines of ${name} are short`,
    );
  }
  t.end();
});

test("an unknown command exits with 2", (t) => {
  for (const words of [["liszt"], ["help", "liszt"], ["--version"], [""]]) {
    const { exitCode, stdout, stderr } = tool(words);
    t.strictSame([exitCode, stdout], [2, ""]);
    t.equal(stderr, `host-local: unknown command "${words.at(-1)}"; see host-local --help\n`);
  }
  t.end();
});

/** What a program of the source loads. */
async function graphOf(entry: string): Promise<Metafile> {
  const { metafile } = await esbuild.build({
    entryPoints: [join(root, entry)],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    logLevel: "error",
  });
  return metafile;
}

/** The files that are evaluated as soon as the program starts. */
function loadedAtOnce({ inputs }: Metafile, entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const file of loaded) {
    for (const { path, kind } of inputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import") loaded.add(path);
    }
  }
  return loaded;
}

/** What belongs to the tool alone. */
const TOOL =
  /src\/operator\/|operator-system|native-operator|portable-operator|node_modules\/(?:arg|text-table|yaml)\/|node:child_process|node:tty/;

for (const entry of ["src/native.ts", "src/portable.ts"]) {
  test(`a call loads nothing of the tool: ${entry}`, async (t) => {
    const loaded = [...loadedAtOnce(await graphOf(entry), entry)];

    t.ok(loaded.includes("src/main.ts"), "the plugin is looked at");
    t.strictSame(
      loaded.filter((path) => TOOL.test(path)),
      [],
    );
  });
}

test("the pattern matches the files of the tool", async (t) => {
  const { inputs } = await graphOf("src/portable.ts");
  t.ok(Object.keys(inputs).some((path) => TOOL.test(path)));
});

test("an option without a value refuses one: --yes=false does not confirm", (t) => {
  for (const words of [
    ["release", "10.0.0.2", "--yes=false"],
    ["gc", "--by-netns", "--now=no"],
    ["list", "--json=1"],
  ]) {
    t.match(tool(words), { exitCode: 2, stderr: /this option takes no value/ }, words.join(" "));
  }
  t.end();
});
