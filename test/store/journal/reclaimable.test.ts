import { test } from "tap";
import { RecordedNamespaces, recordedIn } from "../../../src/store/journal/reclaimable.ts";
import { recordIn } from "../../../src/store/journal/record.ts";
import { NamespaceStates } from "../../../src/store/namespaces/namespace-state.ts";
import { refuse } from "../../harness/interruption.ts";
import { machineWith, open } from "../fixtures.ts";

const alive = "/run/netns/alive";

/** What is recorded of 10.0.0.2, for a namespace at a path. */
function recorded(path: string): RecordedNamespaces {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  machine.namespaces.set(alive, 4026532001n);
  const files = open(machine.start());
  const inode = path === alive ? 4026532001 : 4026532002;
  const record = recordIn(`c1 eth0 10.0.0.2 12,5 ${inode} ${path} pod`, undefined);
  if (record === undefined) throw new Error("there is one");
  return new RecordedNamespaces(files, [record], new NamespaceStates(files.system));
}

test("what may be another reservation with the number and time of a recorded one lives with it, and does not go with it", async (t) => {
  for (const [path, same, state] of [
    [alive, true, "alive"],
    [alive, undefined, "alive"],
    [alive, false, undefined],
    ["/run/netns/gone", true, "gone"],
    ["/run/netns/gone", undefined, undefined],
    ["/run/netns/gone", false, undefined],
  ] as const) {
    t.equal(recorded(path).find("10.0.0.2", () => same)?.state.kind, state, `${path}, ${same}`);
  }
  t.equal(
    recorded(alive).find("10.0.0.3", () => true),
    undefined,
    "nothing is recorded",
  );
});

test("of a journal that cannot be read it is not said that nothing is recorded", async (t) => {
  const machine = machineWith({ "10.0.0.2": "c1\r\neth0" });
  const files = open(machine.start({ interrupt: refuse("findLines", "EIO") }));
  t.match(
    recordedIn(files).find("10.0.0.2", () => true),
    {
      state: { kind: "unseen", reason: "the journal cannot be read" },
    },
  );
  const missing = open(machineWith({ "10.0.0.2": "c1\r\neth0" }).start());
  t.equal(
    recordedIn(missing).find("10.0.0.2", () => true),
    undefined,
  );
});
