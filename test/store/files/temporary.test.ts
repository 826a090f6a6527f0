import { test } from "tap";
import { abandonedIn, createTemporary } from "../../../src/store/files/temporary.ts";
import { refuse } from "../../harness/interruption.ts";
import { filesOf, machineWith } from "../fixtures.ts";

const place = { directory: "/data/net", mode: 0o755, prefix: ".host-local-" };

test("whatever a process names a temporary file, it is known for one by its name", async (t) => {
  const taken = machineWith({ ".host-local-42-0": "another's" });
  const system = taken.start({ processId: 42 });
  t.equal(createTemporary(system, place, ""), "/data/net/.host-local-42-1");
  t.same(filesOf(taken), { ".host-local-42-0": "another's", ".host-local-42-1": "" });

  for (const [name, prefix, expected] of [
    [".host-local-42-1", place.prefix, true],
    ["42-10", "", true],
    [".host-local-10.0.0.2", place.prefix, false],
    [".host-local-x1-0", place.prefix, false],
    [".host-local-42-1x", place.prefix, false],
    ["10.0.0.2", "", false],
  ] as const) {
    const machine = machineWith({ [name]: "" });
    machine.wait(120_000);
    const abandoned = abandonedIn(machine.start(), { ...place, prefix });
    t.same(abandoned, expected ? [`/data/net/${name}`] : [], name);
  }
});

test("where the directory is gone each time, a temporary file is an error in the end", async (t) => {
  const system = machineWith().start({ interrupt: refuse("createFile", "ENOENT") });
  t.throws(() => createTemporary(system, place, ""), { code: "ENOENT" });

  const refused = machineWith().start({ interrupt: refuse("createFile", "EIO") });
  t.throws(() => createTemporary(refused, place, ""), { code: "EIO" });
  t.equal(refused.calls.length, 1, "any other error at once");
});

test("one whose age is not known is not taken for that of a killed call", async (t) => {
  const machine = machineWith({ ".host-local-42-0": "", ".host-local-42-1": "" });
  machine.wait(60_000);
  t.same(abandonedIn(machine.start(), place), [], "nor is one of a minute");
  machine.wait(1);
  const interrupt = refuse("status", "EIO", "/data/net/.host-local-42-1");
  t.same(abandonedIn(machine.start({ interrupt }), place), ["/data/net/.host-local-42-0"]);
});
