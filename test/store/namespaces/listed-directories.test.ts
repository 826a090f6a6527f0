import { test } from "tap";
import { ListedDirectories, nameIn } from "../../../src/store/namespaces/listed-directories.ts";
import { refuse } from "../../harness/interruption.ts";
import { MemoryMachine } from "../../harness/memory-machine.ts";

function machineWithPod(): MemoryMachine {
  const machine = new MemoryMachine();
  machine.disk.put("/run/netns/pod", "");
  return machine;
}

test("a directory lacks what it does not list; one that is not there, or not listed, lacks nothing", async (t) => {
  const machine = machineWithPod();
  for (const [path, isLacking] of [
    ["/run/netns/pod", false],
    ["/run/netns/gone", true],
    ["/run/netns", false],
    ["/gone", true],
    ["/run/netns/", false],
    ["/run/netns/.", false],
    ["/run/netns/..", false],
    ["/run/other/gone", false],
  ] as const) {
    t.equal(new ListedDirectories(machine.start()).lack(path), isLacking, path);
  }
  const refused = machine.start({ interrupt: refuse("list", "EACCES") });
  t.equal(new ListedDirectories(refused).lack("/run/netns/gone"), false);
});

test("a directory is listed once, also one that cannot be", async (t) => {
  for (const directory of ["/run/netns", "/run/other"]) {
    const process = machineWithPod().start();
    const directories = new ListedDirectories(process);
    const names = directories.namesIn(directory);
    for (const path of ["a", "b"]) directories.lack(`${directory}/${path}`);
    t.equal(directories.namesIn(directory), names);
    t.equal(process.calls.length, 1);
  }
});

test("the last name of a path", async (t) => {
  t.equal(nameIn("/run/netns/pod"), "pod");
  t.equal(nameIn("pod"), "pod");
});
