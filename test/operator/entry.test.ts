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

test("an empty CNI_COMMAND counts as unset", async (t) => {
  const { exitCode, stdout } = tool(["--help"], { environment: { CNI_COMMAND: "" } });
  t.equal(exitCode, 0);
  t.match(stdout, /^host-local: CNI IPAM plugin/);
});

test("with CNI_COMMAND it is the plugin, whatever the arguments are", async (t) => {
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
});

test("--help names every command, and each has help with an example", async (t) => {
  const overview = tool(["--help"]);
  t.strictSame([overview.exitCode, overview.stderr], [0, ""]);
  t.equal(tool(["help"]).stdout, overview.stdout);
  for (const command of commands) {
    const { name, operands, usage = operands, summary, examples } = command;
    t.match(overview.stdout, `\n  ${name} `);
    const help = tool([name, "--help"]);
    t.ok(
      help.stdout.replace(/\s+/g, " ").startsWith(`host-local ${`${name} ${usage}`.trim()}`),
      name,
    );
    t.strictSame([help.exitCode, help.stderr], [0, ""]);
    t.equal(tool(["help", name]).stdout, help.stdout);
    t.ok(help.stdout.replace(/\s+/g, " ").includes(summary), summary);
    for (const option of optionsOf(command)) t.match(help.stdout, ` ${option.name}`);
    t.ok(examples.length > 0, `${name} has an example`);
    for (const { line } of examples) t.match(help.stdout, line);
  }
});

test("help is laid out for 80 columns, or COLUMNS; examples stay whole", async (t) => {
  for (const [environment, width] of [
    [{}, 80],
    [{ COLUMNS: "66" }, 66],
    [{ COLUMNS: "wide" }, 80],
  ] as const) {
    for (const words of [["--help"], ...commands.map(({ name }) => [name, "-h"])]) {
      const { exitCode, stdout } = tool(words, { environment });
      const long = stdout.split("\n").filter((line) => line.length > width);
      const examples = commands.flatMap((command) => command.examples.map(({ line }) => line));
      t.equal(exitCode, 0);
      t.strictSame(
        long.filter((line) => !examples.includes(line.trim())),
        [],
        `${words.join(" ")} at ${width}`,
      );
    }
  }
});

test("only options that a command uses are listed, and taken", async (t) => {
  for (const name of ["plan", "audit", "man", "version"]) {
    t.notMatch(tool([name, "--help"]).stdout, /--(?:conf|data)-dir/, name);
    t.strictSame(tool([name, "--data-dir", "/tmp"]), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: ${name}: --data-dir: unknown option\nRun 'host-local ${name} --help' for usage.\n`,
    });
  }
  t.match(tool(["list", "--help"]).stdout, /--data-dir DIR/);
});

test("--version and version print the version", async (t) => {
  const { exitCode, stdout, stderr } = tool(["--version"]);
  t.strictSame([exitCode, stderr], [0, ""]);
  t.match(stdout, /^host-local v[0-9]+\.[0-9]+\.[0-9]+\nCNI versions: 0\.1\.0, .*1\.1\.0\n$/);
  t.equal(tool(["version"]).stdout, stdout);
  t.match(JSON.parse(tool(["version", "--json"]).stdout), { version: /^v[0-9]/ });
});

test("--json may stand before the command", async (t) => {
  const after = tool(["version", "--json"]);
  t.strictSame(tool(["--json", "version"]), after);
  t.strictSame(tool(["--json", "--version"]), after);
});

for (const [words, error, help] of [
  [["liszt"], 'unknown command "liszt"; did you mean list?', "--help"],
  [["status"], 'unknown command "status"', "--help"],
  [["help", "relase"], 'unknown command "relase"; did you mean release?', "--help"],
  [[""], "missing command", "--help"],
  [["--json"], "missing command", "--help"],
  [
    ["--versoin"],
    "--versoin: unknown option before the command; did you mean --version?",
    "--help",
  ],
  [
    ["--conf-dir", "/tmp", "list"],
    "--conf-dir: unknown option before the command; options follow the command",
    "--help",
  ],
  [
    ["list", "--chache-dir", "/"],
    "list: --chache-dir: unknown option; did you mean --cache-dir?",
    "list --help",
  ],
  [
    ["list", "--sort", "size"],
    "list: --sort: expected network, address, age, container or pod, found size",
    "list --help",
  ],
  [
    ["list", "--older-than", "1y"],
    "list: --older-than: expected a duration such as 90s, 10m, 3h or 12d, found 1y",
    "list --help",
  ],
  [["list", "--sort"], "list: --sort: expected KEY, found no value", "list --help"],
  [["list", "-n"], "list: -n: unknown option", "list --help"],
  [
    ["list", "--json=1"],
    "list: --json: expected no value, found 1; omit it to turn it off",
    "list --help",
  ],
  [
    ["show", "10.0.0.300"],
    "show: expected an address such as 10.88.0.7, found 10.0.0.300",
    "show --help",
  ],
  [
    ["gc", "--live", "a", "--live-command", "b"],
    "gc: --live: cannot be combined with --live-command",
    "gc --help",
  ],
  [
    ["plan", "--cluster-cidr", "10.0.0.0"],
    "plan: --cluster-cidr: expected a network such as 10.244.0.0/16, found 10.0.0.0",
    "plan --help",
  ],
  [["list", "--data-dir="], 'list: --data-dir: expected DIR, found ""', "list --help"],
  [["list", "--sort", "age", "--sort=pod"], "list: --sort: given more than once", "list --help"],
  [["list", ""], "list: empty operand: expected [NETWORK]", "list --help"],
  [["list", "a", "b"], "list: too many operands: expected [NETWORK]", "list --help"],
  [["show"], "show: missing operand: expected ADDRESS|CONTAINER|POD", "show --help"],
  [
    ["show", "a b"],
    'show: expected an address, a container id or a pod as namespace/name, found "a b"',
    "show --help",
  ],
  [
    ["completion", "tcsh"],
    "completion: expected one of bash, zsh, fish, found tcsh",
    "completion --help",
  ],
] as const) {
  test(`wrong usage exits with 2 and says what to run for help: ${words.join(" ")}`, async (t) => {
    t.strictSame(tool(words), {
      exitCode: 2,
      stdout: "",
      stderr: `host-local: ${error}\nRun 'host-local ${help}' for usage.\n`,
    });
  });
}

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
  /src\/operator\/|operator-system|native-operator|portable-operator|node_modules\/arg\/|node:child_process|node:tty/;

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

test("an option without a value refuses one: --yes=false does not confirm", async (t) => {
  for (const words of [
    ["release", "10.0.0.2", "--yes=false"],
    ["gc", "--now=no"],
    ["list", "--json=1"],
  ]) {
    t.match(tool(words), { exitCode: 2, stderr: /: expected no value, found / }, words.join(" "));
  }
});
