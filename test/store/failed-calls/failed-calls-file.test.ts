import { test } from "tap";
import { type CallRecord, formatCall } from "../../../src/store/failed-calls/failed-call.ts";
import { keepCall, readFailedCalls } from "../../../src/store/failed-calls/failed-calls-file.ts";
import { pauseAt, refuse, stopAt } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

const DIRECTORY = "/run/host-local";
const FILE = `${DIRECTORY}/failed-calls`;
const ROTATED = `${FILE}.1`;

/** A line of 4 KiB and less. */
function recordOf(container: string, details = ""): CallRecord {
  return {
    ...{ kind: "failed", time: Date.UTC(2026, 0, 31, 12), verb: "ADD", network: "net" },
    ...{ dataDir: "/data", container, interfaceName: "eth0", pod: "default/web" },
    ...{ code: 999, message: "no IP addresses available", details },
  };
}

/** The containers of the records, in their order. */
function told(machine: MemoryMachine): readonly string[] {
  return readFailedCalls(machine.start()).map(({ container }) => container);
}

/** A machine whose file is so full that the next record rotates it; it ends with one of `last`. */
function fullMachine(): MemoryMachine {
  const machine = new MemoryMachine();
  const older = formatCall(recordOf("older", "x".repeat(5000)));
  machine.disk.makeDirectories(DIRECTORY, 0o700);
  machine.disk.put(FILE, older.repeat(255) + formatCall(recordOf("last", "x".repeat(5000))));
  return machine;
}

test("the file is rotated once it has a mebibyte; the records of both are read, older ones first", async (t) => {
  const machine = fullMachine();

  keepCall(machine.start(), recordOf("c1"));
  keepCall(machine.start(), recordOf("c2"));

  t.strictSame(told(machine), [...Array(255).fill("older"), "last", "c1", "c2"]);
  t.equal(
    machine.disk.readFile(FILE, 1e6),
    ["c1", "c2"].map((one) => formatCall(recordOf(one))).join(""),
  );
  t.equal(machine.disk.linkStatus(ROTATED).size, 256 * 4096);
});

test("where another call comes between, and rotates the file, both records are there", async (t) => {
  for (const isFull of [false, true]) {
    const prepare = (): MemoryMachine => (isFull ? fullMachine() : new MemoryMachine());
    const undisturbed = prepare().start();
    keepCall(undisturbed, recordOf("c1"));
    t.ok(undisturbed.calls.length >= 3);
    for (const { number } of undisturbed.calls) {
      const machine = prepare();
      const other = (): void => keepCall(machine.start(), recordOf("c2"));

      keepCall(machine.start({ interrupt: pauseAt(number, other) }), recordOf("c1"));

      const both = told(machine).filter((one) => one.startsWith("c"));
      t.strictSame(both.toSorted(), ["c1", "c2"], `${isFull} ${number}`);
    }
  }
});

test("a call that is killed meanwhile leaves the records of others", async (t) => {
  const undisturbed = fullMachine().start();
  keepCall(undisturbed, recordOf("c1"));
  for (const { number } of undisturbed.calls) {
    for (const written of [undefined, 0.5]) {
      const machine = fullMachine();
      const start = { interrupt: stopAt(number, written) };
      machine.run(start, (system) => {
        keepCall(system, recordOf("c1"));
        return 0;
      });

      keepCall(machine.start(), recordOf("c2"));

      t.strictSame(told(machine).slice(-2), ["last", "c2"], `${number} ${written}`);
    }
  }
});

/** What is in the way, and how a reader is told that it cannot be told what failed; `undefined` if nothing has. */
const obstacles: readonly (readonly [
  what: string,
  prepare: (machine: MemoryMachine) => void,
  code: string | undefined,
])[] = [
  ["there is no /run", ({ disk }) => disk.removeDirectory("/run"), undefined],
  [
    "the directory is a link",
    ({ disk }) => {
      disk.makeDirectories("/elsewhere");
      disk.putLink(DIRECTORY, "/elsewhere");
    },
    "ENOTDIR",
  ],
  ["it is another user's", ({ disk }) => makeDirectory(disk, { user: 7 }), "EACCES"],
  ["it is writable by others", ({ disk }) => makeDirectory(disk, { mode: 0o777 }), "EACCES"],
  [
    "the file is a link",
    ({ disk }) => {
      makeDirectory(disk, {});
      disk.put("/elsewhere", "");
      disk.putLink(FILE, "/elsewhere");
    },
    "EINVAL",
  ],
];

function makeDirectory(disk: MemoryMachine["disk"], given: { user?: number; mode?: number }): void {
  disk.makeDirectories(DIRECTORY, 0o700);
  disk.give(DIRECTORY, given);
}

for (const [what, prepare, code] of obstacles) {
  test(`nothing is written, nor said, where ${what}`, async (t) => {
    const machine = new MemoryMachine();
    prepare(machine);
    const before = machine.disk.text;
    const process = machine.start();

    keepCall(process, recordOf("c1"));

    t.equal(machine.disk.text, before);
    t.equal(process.stderr, "");
    const read = (): unknown => readFailedCalls(machine.start());
    if (code === undefined) t.strictSame(read(), []);
    else t.throws(read, { code });
  });
}

test("a call that cannot write, for whatever reason, ends as it would have ended", async (t) => {
  for (const operation of [
    "permissions",
    "linkStatus",
    "rename",
    "appendLine",
    "makeDirectories",
    "status",
  ] as const) {
    for (const code of ["EACCES", "ENOSPC", "EROFS", "EIO", "EMFILE", "ENOENT"]) {
      for (const machine of [new MemoryMachine(), fullMachine()]) {
        const process = machine.start({ interrupt: refuse(operation, code) });
        t.doesNotThrow(() => keepCall(process, recordOf("c1")), `${operation} ${code}`);
        t.equal(process.stderr, "");
      }
    }
  }
  const defect = Object.assign(new MemoryMachine().start(), {
    appendLine: () => {
      throw new TypeError("a defect");
    },
  });
  t.doesNotThrow(() => keepCall(defect, recordOf("c1")));
});

test("what cannot be read is an error, never nothing", async (t) => {
  const machine = new MemoryMachine();
  keepCall(machine.start(), recordOf("c1"));
  for (const operation of ["permissions", "linkStatus", "readFile"] as const) {
    const process = machine.start({ interrupt: refuse(operation, "EACCES") });
    t.throws(() => readFailedCalls(process), { code: "EACCES" }, operation);
  }
});

test("an environment variable names another directory", async (t) => {
  const machine = new MemoryMachine();
  const environment = { HOST_LOCAL_RUNTIME_DIR: "/run/tests" };

  keepCall(machine.start({ environment }), recordOf("c1"));

  t.strictSame(told(machine), []);
  t.equal(readFailedCalls(machine.start({ environment })).length, 1);
  const empty = machine.start({ environment: { HOST_LOCAL_RUNTIME_DIR: "" } });
  t.strictSame(readFailedCalls(empty), [], "an empty one is none");
});
