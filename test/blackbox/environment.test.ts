// test: each executable
/** Only the plugin's own variables in the caller's environment change what the plugin does. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { readError } from "../harness/printed-error.ts";
import {
  attachmentCall,
  configuration,
  type RuntimeCall,
  versionCall,
} from "../harness/runtime-call.ts";

/** Variables that could reach an interpreter or a library inside the executable; `@` is an empty directory. */
const foreign: Readonly<Record<string, string>> = {
  DEBUG: "*",
  DEBUG_PKG: "2",
  HOME: "/nonexistent",
  LANG: "tr_TR.UTF-8",
  LC_ALL: "tr_TR.UTF-8",
  NODE_CHANNEL_FD: "99",
  NODE_COMPILE_CACHE: "@/compile-cache",
  NODE_DEBUG: "fs,module,net",
  NODE_DEBUG_NATIVE: "*",
  NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem",
  NODE_ICU_DATA: "/nonexistent",
  NODE_OPTIONS: "--require=/nonexistent.js",
  NODE_PATH: "/nonexistent",
  NODE_PENDING_DEPRECATION: "1",
  NODE_REDIRECT_WARNINGS: "@/warnings",
  NODE_V8_COVERAGE: "@/coverage",
  OPENSSL_CONF: "/nonexistent/openssl.cnf",
  PKG_EXECPATH: "PKG_INVOKE_NODEJS",
  PKG_NATIVE_CACHE_PATH: "@/pkg",
  TMPDIR: "/nonexistent",
  TZ: "Pacific/Kiritimati",
};

const granted = `{
    "cniVersion": "1.1.0",
    "ips": [
        {
            "address": "198.51.100.2/29",
            "gateway": "198.51.100.1"
        }
    ]
}`;

const c1 = { containerId: "c1" };

/** An ADD into an empty data directory. */
function addTo(dataDirectory: string): RuntimeCall {
  return attachmentCall("ADD", c1, configuration(dataDirectory, { subnet: "198.51.100.0/29" }));
}

test("ADD is the same whatever the environment has", async (t) => {
  const empty = scratchDirectory(t);
  const call = addTo(scratchDirectory(t));
  const further = Object.entries(foreign).map(([name, text]) => [name, text.replace("@", empty)]);
  const environment = { ...call.environment, ...Object.fromEntries(further) };

  const outcome = run(executable, { ...call, environment });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
  t.same(treeOf(empty), [], "and nothing was written elsewhere");
});

test("VERSION ignores its arguments, also those of Node.js", async (t) => {
  for (const words of [["--help"], ["--version"], ["-e", "process.exit(3)"], ["--inspect-brk=0"]]) {
    const { exitCode, stdout, stderr } = run(executable, { ...versionCall(), arguments: words });

    t.same([exitCode, stderr], [0, ""], words.join(" "));
    t.match(stdout, /^\{"cniVersion":"1\.1\.0","supportedVersions":\[/);
  }
});

test("ADD works in a working directory that was removed", async (t) => {
  const directory = scratchDirectory(t);
  const gone = join(directory, "gone");
  mkdirSync(gone);

  const outcome = run("/bin/sh", {
    ...addTo(directory),
    workingDirectory: gone,
    arguments: ["-c", 'rmdir ../gone && exec "$0"', executable],
  });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
});

test("ADD takes a relative data directory from the working directory", async (t) => {
  const workingDirectory = scratchDirectory(t);

  run(executable, { ...addTo("some//./where"), workingDirectory });

  t.ok(treeOf(workingDirectory).some(({ path }) => path === "some/where/net/198.51.100.2"));
});

for (const [what, variable, message] of [
  ["a container id", 'CNI_CONTAINERID=$(printf "a\\377b")', "invalid characters in containerID"],
  ["an interface name", 'CNI_IFNAME=$(printf "a\\377b")', "interface name is not UTF-8"],
  // The name has half of a surrogate pair, which is not UTF-8.
  ["an interface name", 'CNI_IFNAME=$(printf "a\\355\\240\\200")', "interface name is not UTF-8"],
] as const) {
  test(`ADD refuses ${what} that is not UTF-8: ${variable}`, async (t) => {
    const directory = scratchDirectory(t);

    const { exitCode, stdout, stderr } = run("/bin/sh", {
      ...addTo(directory),
      arguments: ["-c", `${variable} exec "$0"`, executable],
    });

    t.same([exitCode, stderr], [1, ""]);
    t.match(readError(stdout), { code: 4, msg: message });
    t.same(treeOf(directory, "whole"), []);
  });
}
