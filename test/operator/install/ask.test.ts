// test: each executable, one if short, slow
/** install: what counts as an answer to VERSION. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kill } from "node:process";
import { test } from "tap";
import { executable, start } from "../../harness/executable.ts";
import { runtimeEnvironment } from "../../harness/runtime-call.ts";
import { until } from "../../harness/until.ts";
import { directoryWith, GO } from "./plugin-directory.ts";

/** A program for s390x, which a shell would take for a script. */
const OF_OTHER_MACHINE = `\x7fELF\x02\x01\x01${"\0".repeat(9)}\x02\0\x16\0
echo '{"supportedVersions":["1.0.0"]}'
`;

const NO_ANSWER = "does not answer CNI_COMMAND=VERSION as a CNI plugin: ";

for (const [what, content, problem] of [
  [
    "is for another machine",
    OF_OTHER_MACHINE,
    "it is not a program for this machine: check its architecture",
  ],
  ["is no program", "garbage", "it is not a program for this machine: check its architecture"],
  [
    "has no loader",
    "#!/none/sh\n",
    "no such file or directory. To start, it has to be executable, on a file system that is not mounted noexec, with its loader and its libraries: ",
  ],
  ["fails", "#!/bin/sh\nexit 1\n", "it exited with code 1 and printed nothing. If this is"],
  [
    "says why it fails",
    "#!/bin/sh\necho no >&2\nexit 1\n",
    "it exited with code 1 and printed: no.",
  ],
  [
    "lacks a library",
    "#!/bin/sh\necho $0: error while loading shared libraries: libatomic.so.1: cannot open >&2\nexit 1\n",
    /libatomic\.so\.1: cannot open\. To start, .*: the portable executable needs glibc/,
  ],
  [
    "speaks no version",
    "#!/bin/sh\necho '{\"supportedVersions\":[]}'\n",
    'it exited with code 0 and printed: {"supportedVersions":[]}.',
  ],
  ["prints without end", "#!/bin/sh\nyes\n", "it printed more than 65536 bytes"],
] as const) {
  test(`a plugin that ${what} is no answer, and the reason is named`, async (t) => {
    const directory = directoryWith(t, "this - M");
    directory.put("host-local.previous", content);

    const [exitCode, stdout, stderr] = directory.install("--uninstall", "--yes");

    t.strictSame([exitCode, stdout], [1, ""]);
    t.match(stderr, `  ${directory.previous} ${NO_ANSWER}`);
    t.match(stderr, problem);
    t.match(stderr, ". If this is a container, run it on the node\n");
    t.equal(directory.state, "this unknown M");
  });
}

test("a plugin that answers, and prints a megabyte of errors, answers", async (t) => {
  const directory = directoryWith(t, "this - M");
  directory.put(
    "host-local.previous",
    GO.replace("\n", "\nhead -c 1000000 /dev/zero | tr '\\0' x >&2\n"),
  );

  t.match(directory.install("--uninstall", "--yes"), [0]);
});

/** Programs of which none has ended ten seconds after it was asked; they get the file for the number of a child. */
const endless = [
  {
    what: "does not answer",
    program: (children: string) => `#!/bin/sh\nsleep 300 & echo $! >>'${children}'\nwait\n`,
  },
  {
    what: "leaves a child that holds its output",
    program: (children: string) => `${GO}sleep 300 & echo $! >>'${children}'\n`,
  },
  {
    what: "answers and does not end",
    program: (children: string) =>
      `${GO}exec >&- 2>&-\nsleep 300 & echo $! >>'${children}'\nwait\n`,
  },
  {
    what: "leaves a process of another session that holds its output",
    program: (children: string) => `${GO}setsid sleep 300 & echo $! >>'${children}'\n`,
    isSpared: true,
  },
];

test("a plugin that does not end within ten seconds is broken, and is killed with its children", async (t) => {
  // Ten seconds each.
  await Promise.all(
    endless.map(async ({ what, program, isSpared }) => {
      const directory = directoryWith(t, "this - M");
      const children = join(directory.path, "children");
      directory.put("host-local.previous", program(children));

      const { exitCode, stdout, stderr } = await start(executable, {
        environment: runtimeEnvironment,
        stdin: "",
        arguments: ["install", directory.path, "--uninstall", "--yes"],
      });

      t.strictSame([exitCode, stdout], [1, ""], what);
      t.match(stderr, `${NO_ANSWER}not within 10 seconds. `, what);
      t.match(directory.state, /^this unknown M/, what);
      const [child = "", ...more] = readFileSync(children, "utf8").trim().split("\n");
      t.same(more, [], "it is asked once");
      if (isSpared) {
        t.ok(isRunning(child), "it is no longer a child");
        kill(Number(child));
      } else {
        // Who was killed may end a moment after the call that killed it.
        await until(`the end of ${child}, a child of one that ${what}`, () => !isRunning(child));
      }
    }),
  );
});

/** A killed process may wait for its parent to ask for its status. */
function isRunning(pid: string): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && !/\) [ZX] /.test(readFileSync(path, "utf8"));
}
