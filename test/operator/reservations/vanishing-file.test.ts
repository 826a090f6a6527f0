// test: each executable, slow
/** A file that is there whenever it is looked at, and gone whenever it is opened: the look ends. */

import { join } from "node:path";
import { test } from "tap";
import { injectionObstacle } from "../../faults/executables/injection.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { executable } from "../../harness/executable.ts";
import { tool } from "../../harness/tool.ts";
import { nodeFor } from "../node.ts";

const skip = injectionObstacle() ?? false;

const ADDRESS = "198.51.100.7";

test("list says that it cannot read the file, and ends", { skip }, async (t) => {
  const node = nodeFor(t);
  node.network("net", { subnet: "198.51.100.0/24" });
  const path = node.write(`net/${ADDRESS}`, "c7\r\neth0");
  const log = join(scratchDirectory(t), "log");
  const words = [
    ...["--signal=KILL", "60", "strace"],
    ...["--follow-forks", "--quiet=all", `--output=${log}`, "--inject=open,openat:error=ENOENT"],
    // By its name where it is opened relative to its directory.
    ...["--trace-path", path, "--trace-path", ADDRESS],
    ...["--", executable, ...node.line(["list", "net"])],
  ];

  const { exitCode, stdout } = tool(words, { program: "timeout" });

  t.match(stdout, ADDRESS);
  t.equal(exitCode, 0);
});
