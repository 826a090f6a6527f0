// test: native executable, full extent only, makes namespaces, slow
/** The handles of network namespaces: what the kernel says to Node.js and to the C host. */

import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, openSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join, resolve } from "node:path";
import { type Test, test } from "tap";
import { buildNative } from "../../scripts/build/native.ts";
import type { NamespaceHandle } from "../../src/system/system.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { lacking } from "../harness/needs.ts";
import { mountNamespace, takeNamespace } from "../harness/network-namespaces.ts";

/** A call of the system: the path of a namespace to name, or a handle to open. */
type Question = string | NamespaceHandle;

/** What it returns, or the message of the error that it throws. */
type Answer = NamespaceHandle | boolean | string | undefined;

/** A program that asks a system, as a process of its own. */
type Asker = (question: Question, starter?: readonly string[]) => Answer;

const engines = {
  "Node.js": ["createNodeSystem", "src/system/node/node-system.ts"],
  "the C host": ["createQuickJsSystem", "src/system/quickjs/quickjs-system.ts"],
} as const;

/** The program, which is asked by its standard input; bigints are strings there. */
function program(engine: keyof typeof engines): string {
  const [create, file] = engines[engine];
  const main = engine === "Node.js" ? "main()" : "host.serve = main";
  return `
    import { ${create} } from ${JSON.stringify(resolve(file))};
    function main() {
      const system = ${create}();
      const [question, inode] = JSON.parse(system.readStandardInput(10000, 10000));
      let answer;
      try {
        answer = inode === undefined
          ? system.namespaceHandle(question)
          : system.namespaceLives({ id: question, inode: BigInt(inode) });
      } catch (error) {
        answer = error.message;
      }
      const text = (_, value) => (typeof value === "bigint" ? "" + value : value);
      system.writeStandardOutput(JSON.stringify([answer], text));
      system.exit(0);
    }
    ${main};`;
}

/** @param command what starts the program */
function asker(command: readonly string[], environment: Record<string, string> = {}): Asker {
  return (question, starter = []) => {
    const [file = "", ...words] = [...starter, ...command];
    const asked = typeof question === "string" ? [question] : [question.id, `${question.inode}`];
    const { stdout, stderr } = spawnSync(file, words, {
      input: JSON.stringify(asked),
      encoding: "utf8",
      env: { ...process.env, ...environment },
    });
    if (!stdout.startsWith("[")) throw new Error(`${file}: ${stderr}`);
    const [answer] = JSON.parse(stdout) as readonly unknown[];
    if (answer === null) return undefined;
    if (typeof answer === "string" || typeof answer === "boolean") return answer;
    const { id, inode } = answer as { readonly id: string; readonly inode: string };
    return { id, inode: BigInt(inode) };
  };
}

async function askers(): Promise<Readonly<Record<keyof typeof engines, Asker>>> {
  const directory = scratchDirectory({ teardown: (end) => process.once("exit", end) });
  // An ordinary user asks, too.
  chmodSync(directory, 0o755);
  const [node, native] = [join(directory, "node.ts"), join(directory, "native.ts")];
  writeFileSync(node, program("Node.js"));
  writeFileSync(native, program("the C host"));
  const work = join(directory, "work");
  const output = join(directory, "host-local");
  const executable = await buildNative({ checked: true, plugin: native, work, output });
  return {
    "Node.js": asker([process.execPath, "--disable-warning=ExperimentalWarning", node]),
    // Not as an operator command.
    "the C host": asker([executable], { CNI_COMMAND: "ADD" }),
  };
}

const programs = await askers();

const OWN = "/proc/self/ns/net";

const [major = 0, minor = 0] = release().split(".").map(Number.parseFloat);
const isUnknown = major < 6 || (major === 6 && minor < 18);
const skip =
  lacking("makes namespaces") ||
  (isUnknown ? "This kernel gives no handles of namespaces, as Linux does since 6.18." : false);

/** The handle of the namespace at a path, of which the test is sure. */
function handleOf(ask: Asker, path: string): NamespaceHandle {
  const answer = ask(path);
  if (typeof answer === "object") return answer;
  throw new Error(`${path} has no handle: ${answer}`);
}

function makeNamespace(t: Test): string {
  const path = join(scratchDirectory(t), "pod");
  mountNamespace(t, path);
  return path;
}

for (const [engine, ask] of Object.entries(programs)) {
  test(`${engine}: a namespace has one handle, whatever path leads to it`, { skip }, async (t) => {
    const path = makeNamespace(t);
    symlinkSync(path, `${path}-link`);

    const handle = handleOf(ask, path);

    t.equal(handle.inode, statSync(path, { bigint: true }).ino);
    t.same(ask(`${path}-link`), handle);
    t.equal(ask(handle), true);
    t.same(ask(OWN, ["nsenter", `--net=${path}`]), handle);
    t.not(handleOf(ask, OWN).id, handle.id);
  });

  test(`${engine}: a namespace lives as long as it is open`, { skip }, async (t) => {
    const path = makeNamespace(t);
    const handle = handleOf(ask, path);
    const descriptor = openSync(path, "r");

    takeNamespace(path);
    t.equal(ask(handle), true);

    closeSync(descriptor);
    t.equal(ask(handle), false);
  });

  test(`${engine}: neither the id of another namespace nor its number is enough`, {
    skip,
  }, async (t) => {
    const path = makeNamespace(t);
    const own = handleOf(ask, OWN);
    const theirs = handleOf(ask, path);

    t.equal(ask({ id: own.id, inode: theirs.inode }), false);
    t.equal(ask({ id: theirs.id, inode: own.inode }), false);
  });

  test(`${engine}: ESTALE is no proof without sight, and a handle is had without it`, {
    skip,
  }, async (t) => {
    const path = makeNamespace(t);
    const handle = handleOf(ask, path);

    for (const starter of [
      ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
      ["unshare", "--user", "--map-root-user"],
    ]) {
      t.equal(ask(handle, starter), false, starter.join(" "));
      t.same(ask(path, starter), handle, starter.join(" "));
    }
    for (const starter of [
      ["setpriv", "--bounding-set=-dac_read_search", "--inh-caps=-dac_read_search"],
      ["unshare", "--mount", "sh", "-c", 'umount --lazy /sys && exec "$@"', "sh"],
    ]) {
      t.equal(ask(handle, starter), true, starter.join(" "));
    }
  });

  test(`${engine}: what is no network namespace has no handle`, { skip }, async (t) => {
    const root = t.testdir({ file: "" });
    for (const path of [`${root}/file`, root, "/dev/null", "/proc/self/status", "/proc/self/ns"]) {
      t.equal(ask(path), undefined, path);
    }
    for (const kind of ["user", "pid", "mnt", "uts", "ipc", "cgroup"]) {
      t.equal(ask(`/proc/self/ns/${kind}`), undefined, kind);
    }
  });

  test(`${engine}: a path that leads nowhere is an error`, { skip }, async (t) => {
    const root = t.testdir({ file: "" });
    symlinkSync("loop", `${root}/loop`);
    const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    for (const [path, reason, starter] of [
      [`${root}/no`, "no such file or directory", []],
      ["", "no such file or directory", []],
      [`${root}/file/a`, "not a directory", []],
      [`${root}/loop`, "too many levels of symbolic links", []],
      [`${root}/a\0b`, "invalid argument", []],
      ["/proc/1/ns/net", "permission denied", nobody],
    ] as const) {
      t.equal(ask(path, starter), `name_to_handle_at ${path}: ${reason}`);
    }
  });

  test(`${engine}: what is no handle is refused`, { skip }, async (t) => {
    const { id, inode } = handleOf(ask, OWN);
    for (const handle of [
      ...["", "-1", " 3", "3 ", "0x3", "3.", "18446744073709551616", "3\0"].map((other) => ({
        id: other,
        inode,
      })),
      ...[0n, -1n, 2n ** 32n, 2n ** 32n + inode].map((other) => ({ id, inode: other })),
    ]) {
      t.equal(ask(handle), "open_by_handle_at nsfs: invalid argument", JSON.stringify(handle.id));
    }
    t.equal(ask({ id: "18446744073709551615", inode }), false);
  });

  test(`${engine}: a refused system call is no proof`, {
    skip: skip || (spawnSync("strace", ["--version"]).status === 0 ? false : "strace is missing."),
  }, async (t) => {
    const refusing = (name: string, code: string): readonly string[] => [
      ...["strace", "--follow-forks", "--quiet=all", "--output=/dev/null"],
      ...[`--trace=${name}`, `--inject=${name}:error=${code}`],
    ];
    const handle = handleOf(ask, OWN);
    for (const code of ["EPERM", "ENOSYS", "EOPNOTSUPP", "EOVERFLOW"]) {
      t.equal(ask(OWN, refusing("name_to_handle_at", code)), undefined, code);
    }
    for (const [code, reason] of [
      ["EPERM", "operation not permitted"],
      ["EMFILE", "too many open files"],
    ] as const) {
      const message = `open_by_handle_at nsfs: ${reason}`;
      t.equal(ask(handle, refusing("open_by_handle_at", code)), message);
    }
    t.equal(ask(handle, refusing("open_by_handle_at", "ESTALE")), false);
  });
}
