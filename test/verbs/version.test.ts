import { test } from "tap";
import { version } from "../../src/verbs/version.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";

test("VERSION prints the supported versions in one line", (t) => {
  const process = new MemoryMachine().start();

  version(process);

  t.equal(
    process.stdout,
    '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}\n',
  );
  t.end();
});
