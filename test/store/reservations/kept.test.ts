import { test } from "tap";
import { changeKept, hasKept, type Kept, readKept } from "../../../src/store/reservations/kept.ts";
import { parsePodName } from "../../../src/store/reservations/owner.ts";
import { refuse } from "../../harness/interruption.ts";
import { address } from "../../ipam/parsed.ts";
import { location, machineWith, open } from "../fixtures.ts";

const FILE = `${location.stateDirectory}/kept`;
const forDb0: Kept = {
  address: address("10.0.0.4"),
  name: "10.0.0.4",
  pod: parsePodName("default/db-0"),
};
const forNobody: Kept = { address: address("fd00::4"), name: "fd00::4", pod: undefined };

test("what is kept is listed until it is kept no longer, and then the file goes", async (t) => {
  const machine = machineWith();
  const files = open(machine.start());
  changeKept(files, forDb0.name, [forDb0]);
  changeKept(files, forNobody.name, [forNobody]);
  t.same(readKept(files), [forDb0, forNobody]);
  t.equal(hasKept(files), true);

  changeKept(files, forDb0.name, [{ ...forDb0, pod: undefined }]);
  t.same(readKept(files), [forNobody, { ...forDb0, pod: undefined }]);
  changeKept(files, forDb0.name, []);
  changeKept(files, forNobody.name, []);
  t.same(readKept(files), []);
  t.equal(hasKept(files), false);
});

test("nothing is kept by lines of nonsense, a file of another form, or one that cannot be read", async (t) => {
  const machine = machineWith();
  changeKept(open(machine.start()), forDb0.name, [forDb0]);
  const text = machine.disk.readFile(FILE, 1000);
  machine.disk.write(FILE, `${text}10.0.0.5\n10.0.0.6 nobody\nweb default/web\n\n`);
  t.same(readKept(open(machine.start())), [forDb0]);

  machine.disk.write(FILE, text.replace("kept 1", "kept 2"));
  t.same(readKept(open(machine.start())), []);
  machine.disk.write(FILE, text);
  t.same(readKept(open(machine.start({ interrupt: refuse("readFile", "EIO") }))), []);
  machine.disk.putLink("/data/.host-local", "/elsewhere");
  t.same(readKept(open(machine.start())), []);
  t.equal(hasKept(open(machine.start())), false);
});
