import { test } from "tap";
import { about } from "../../src/verbs/about.ts";
import { hostLocal } from "../../src/verbs/host-local.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

test("without a command, standard error has the Go plugin's two lines and a hint at the operator's tool", async (t) => {
  Object.assign(globalThis, { BUILD_VERSION: "v1.2.3" });
  t.teardown(() => Reflect.deleteProperty(globalThis, "BUILD_VERSION"));
  const process = new MemoryMachine().start();

  about(process, hostLocal);

  t.equal(process.stdout, "");
  t.equal(
    process.stderr,
    "CNI host-local plugin v1.2.3\nCNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0\nWith arguments it is a tool for operators: host-local --help\n",
  );
});
