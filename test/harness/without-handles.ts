/** The executable on a kernel that seems to give no handles of namespaces, like Linux before 6.18. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { shellCommand } from "../../src/operator/next-command.ts";
import { scratchDirectory } from "./data-directory.ts";
import { executable } from "./executable.ts";

/** Makes a program that runs the executable under test with `strace`, which denies it handles. */
export function withoutHandles(t: Pick<Test, "teardown">): string {
  const program = join(scratchDirectory(t), "host-local");
  const deny = ["strace", "-f", "--quiet=all", "--output=/dev/null", "--seccomp-bpf"];
  const call = "name_to_handle_at";
  const words = [...deny, `--trace=${call}`, `--inject=${call}:error=EOPNOTSUPP`, executable];
  writeFileSync(program, `#!/bin/sh\nexec ${shellCommand(words)} "$@"\n`, { mode: 0o755 });
  return program;
}
