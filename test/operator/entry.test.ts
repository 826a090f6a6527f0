// test: each executable, one if short, each architecture
/** One executable is plugin and tool, and a call of the plugin never loads the tool. */

import { join } from "node:path";
import esbuild, { type Metafile } from "esbuild";
import { test } from "tap";
import { root } from "../../scripts/build/bundle.ts";
import { optionsOf } from "../../src/cli/command/common-options.ts";
import { commands } from "../../src/commands.ts";
import { scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { attachmentCall, configuration } from "../harness/runtime-call.ts";
import { tool } from "../harness/tool.ts";

test("without arguments and CNI_COMMAND it prints its version and points to --help", async (t) => {
  for (const environment of [{}, { CNI_COMMAND: "" }] as const) {
    const { exitCode, stdout, stderr } = tool([], { environment });
    t.strictSame([exitCode, stdout], [0, ""]);
    t.match(
      stderr,
      /^CNI host-local plugin v.*\nCNI protocol versions supported: .*\nWith arguments it is a tool for operators: host-local --help\n$/,
    );
  }
});

test("with CNI_COMMAND it is the plugin, whatever the arguments are", async (t) => {
  const directory = scratchDirectory(t);
  const call = attachmentCall(
    "ADD",
    { containerId: "c1" },
    configuration(directory, { subnet: "198.51.100.0/29" }),
  );
  const { exitCode, stdout } = run(executable, { ...call, arguments: ["list", "--json"] });
  t.equal(exitCode, 0);
  t.equal(JSON.parse(stdout).ips[0].address, "198.51.100.2/29");
  t.ok(treeOf(directory).some(({ path }) => path === "net/198.51.100.2"));
  const environment = { ...call.environment, CNI_COMMAND: "list" };
  const wrong = run(executable, { ...call, environment, arguments: ["list"] });
  t.equal(wrong.exitCode, 1);
  t.match(wrong.stdout, "unknown CNI_COMMAND: list");
});

test("--help names every command, and each has help with its options and an example", async (t) => {
  const overview = tool(["--help"]);
  t.strictSame([overview.exitCode, overview.stderr], [0, ""]);
  t.match(tool(["help"], { environment: { CNI_COMMAND: "" } }), overview, "as if it were unset");
  for (const command of commands) {
    const { name, operands, usage = operands, summary, examples } = command;
    t.match(overview.stdout, `\n  ${name} `);
    const help = tool([name, "--help"]);
    t.strictSame([help.exitCode, help.stderr], [0, ""]);
    t.equal(tool(["help", name]).stdout, help.stdout);
    const text = help.stdout.replace(/\s+/g, " ");
    t.ok(text.startsWith(`host-local ${`${name} ${usage}`.trim()}`), name);
    t.ok(text.includes(summary), summary);
    for (const option of optionsOf(command)) t.match(help.stdout, ` ${option.name}`);
    t.ok(examples.length > 0, `${name} has an example`);
    for (const { line } of examples) t.match(help.stdout, line);
  }
});

test("help is laid out for 80 columns, or COLUMNS; examples stay whole", async (t) => {
  const examples = commands.flatMap((command) => command.examples.map(({ line }) => line));
  for (const [environment, width] of [
    [{}, 80],
    [{ COLUMNS: "66" }, 66],
    [{ COLUMNS: "wide" }, 80],
  ] as const) {
    for (const words of [["--help"], ...commands.map(({ name }) => [name, "-h"])]) {
      const lines = tool(words, { environment }).stdout.split("\n");
      t.ok(lines.length > 5);
      t.strictSame(
        lines.filter((line) => line.length > width && !examples.includes(line.trim())),
        [],
        `${words.join(" ")} at ${width}`,
      );
    }
  }
});

test("--version and version print the version, also as JSON; --json may stand before", async (t) => {
  const { exitCode, stdout, stderr } = tool(["--version"]);
  t.strictSame([exitCode, stderr], [0, ""]);
  t.match(stdout, /^host-local v[0-9]+\.[0-9]+\.[0-9]+\nCNI versions: 0\.1\.0, .*1\.1\.0\n$/);
  t.equal(tool(["version"]).stdout, stdout);
  const json = tool(["version", "--json"]);
  t.match(JSON.parse(json.stdout), { version: /^v[0-9]/ });
  t.strictSame(tool(["--json", "--version"]), json);
});

/** Command lines, and the error; one of a command begins with its name. */
const wrong: readonly (readonly [words: readonly string[], error: string])[] = [
  [["liszt"], 'unknown command "liszt"; did you mean list?'],
  [["status"], 'unknown command "status"'],
  [["help", "relase"], 'unknown command "relase"; did you mean release?'],
  [[""], "missing command"],
  [["--json"], "missing command"],
  [["--versoin"], "--versoin: unknown option before the command; did you mean --version?"],
  [
    ["--conf-dir", "/tmp", "list"],
    "--conf-dir: unknown option before the command; options follow the command",
  ],
  [["list", "--chache-dir", "/"], "list: --chache-dir: unknown option; did you mean --cache-dir?"],
  [["plan", "--data-dir", "/tmp"], "plan: --data-dir: unknown option"],
  [["list", "-n"], "list: -n: unknown option"],
  [
    ["gc", "--grace", "1y"],
    "gc: --grace: expected a duration such as 90s, 10m, 3h or 12d, found 1y",
  ],
  [["history", "--at"], "history: --at: expected TIME, found no value"],
  [["list", "--data-dir="], 'list: --data-dir: expected DIR, found ""'],
  [["history", "--at", "1h", "--at=2h"], "history: --at: given more than once"],
  // It does not confirm.
  [
    ["release", "198.51.100.2", "--yes=false"],
    "release: --yes: expected no value, found false; omit it to turn it off",
  ],
  [
    ["gc", "--live", "a", "--live-command", "b"],
    "gc: --live: cannot be combined with --live-command",
  ],
  [
    ["history", "c1", "--at", "1h", "--since", "1h"],
    "history: --at: cannot be combined with --since",
  ],
  [
    ["plan", "--cluster-cidr", "198.51.100.0"],
    "plan: --cluster-cidr: expected a network such as 10.244.0.0/16, found 198.51.100.0",
  ],
  [["list", ""], "list: empty operand: expected [NETWORK]"],
  [["list", "a", "b"], "list: too many operands: expected [NETWORK]"],
  [["show"], "show: missing operand: expected ADDRESS|CONTAINER|POD"],
  [["show", "198.51.100.300"], "show: expected an address such as 10.88.0.7, found 198.51.100.300"],
  [
    ["show", "a b"],
    'show: expected an address, a container id or a pod as namespace/name, found "a b"',
  ],
  [["completion", "tcsh"], "completion: expected one of bash, zsh, fish, found tcsh"],
];

for (const [words, error] of wrong) {
  test(`wrong usage exits with 2 and says what to run for help: ${words.join(" ")}`, async (t) => {
    const [, name = ""] = /^([a-z]+): /.exec(error) ?? [];
    t.strictSame(tool(words), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: ${error}\nRun 'host-local ${`${name} --help`.trim()}' for usage.\n`,
    });
  });
}

/** What the portable executable may load. */
async function portable(): Promise<Metafile> {
  const { metafile } = await esbuild.build({
    entryPoints: [join(root, "src/portable.ts")],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    logLevel: "error",
  });
  return metafile;
}

/** The files that are evaluated as soon as it starts. */
function loadedAtOnce({ inputs }: Metafile): readonly string[] {
  const loaded = new Set(["src/portable.ts"]);
  for (const file of loaded) {
    for (const { path, kind } of inputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import") loaded.add(path);
    }
  }
  return [...loaded];
}

/** What belongs to the tool alone. */
const TOOL =
  /src\/operator\/|operator-system|native-operator|portable-operator|node_modules\/arg\/|node:child_process|node:tty/;

test("a call of the portable executable loads nothing of the tool", async (t) => {
  const graph = await portable();
  const loaded = loadedAtOnce(graph);

  t.ok(loaded.includes("src/main.ts"), "the plugin is looked at");
  t.strictSame(
    loaded.filter((path) => TOOL.test(path)),
    [],
  );
  t.ok(Object.keys(graph.inputs).some((path) => TOOL.test(path)));
});
