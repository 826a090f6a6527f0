// test: each executable
/** Nothing in the caller's environment changes what the plugin does, but the plugin's own variables. */

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
import { shortSample } from "./short-sample.ts";

/** What could reach an interpreter or a library inside the executable; `@` is an empty directory. */
const foreign: Readonly<Record<string, string>> = {
  DEBUG: "*",
  DEBUG_PKG: "2",
  ELECTRON_RUN_AS_NODE: "1",
  FORCE_COLOR: "3",
  HOME: "/nonexistent",
  LANG: "tr_TR.UTF-8",
  LC_ALL: "tr_TR.UTF-8",
  NODE_CHANNEL_FD: "99",
  NODE_CHANNEL_SERIALIZATION_MODE: "advanced",
  NODE_COMPILE_CACHE: "@/compile-cache",
  NODE_DEBUG: "fs,module,net",
  NODE_DEBUG_NATIVE: "*",
  NODE_ENV: "development",
  NODE_EXTRA_CA_CERTS: "/nonexistent/ca.pem",
  NODE_ICU_DATA: "/nonexistent",
  NODE_OPTIONS: "--require=/nonexistent.js",
  NODE_PATH: "/nonexistent",
  NODE_PENDING_DEPRECATION: "1",
  NODE_PRESERVE_SYMLINKS: "1",
  NODE_REDIRECT_WARNINGS: "@/warnings",
  NODE_TEST_CONTEXT: "child-v8",
  NODE_UNIQUE_ID: "1",
  NODE_V8_COVERAGE: "@/coverage",
  OPENSSL_CONF: "/nonexistent/openssl.cnf",
  PKG_EXECPATH: "PKG_INVOKE_NODEJS",
  PKG_NATIVE_CACHE_PATH: "@/pkg",
  SSL_CERT_FILE: "/nonexistent/ca.pem",
  TMPDIR: "/nonexistent",
  TZ: "Pacific/Kiritimati",
  UV_THREADPOOL_SIZE: "garbage",
  UV_USE_IO_URING: "1",
};

const granted = `{
    "cniVersion": "1.1.0",
    "ips": [
        {
            "address": "10.0.0.2/29",
            "gateway": "10.0.0.1"
        }
    ]
}`;

const c1 = { containerId: "c1" };

/** An ADD into an empty data directory. */
function addTo(dataDirectory: string): RuntimeCall {
  return attachmentCall("ADD", c1, configuration(dataDirectory, { subnet: "10.0.0.0/29" }));
}

for (const [name, value] of shortSample([
  ...Object.entries(foreign),
  ["all of them at once", ""] as const,
])) {
  test(`ADD is the same with ${name}`, async (t) => {
    const empty = scratchDirectory(t);
    const call = addTo(scratchDirectory(t));
    const environment = { ...call.environment };
    for (const [variable, text] of Object.entries(name in foreign ? { [name]: value } : foreign)) {
      environment[variable] = text.replace("@", empty);
    }

    const outcome = run(executable, { ...call, environment });

    t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
    t.same(treeOf(empty), [], "and nothing was written elsewhere");
  });
}

test("ADD works with nothing in the environment but what it requires", async (t) => {
  const { environment, stdin } = addTo(scratchDirectory(t));
  const names = ["CNI_COMMAND", "CNI_CONTAINERID", "CNI_IFNAME", "CNI_NETNS", "CNI_PATH"];
  const required = Object.entries(environment).filter(([name]) => names.includes(name));

  const outcome = run(executable, { environment: Object.fromEntries(required), stdin });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
});

for (const words of [
  ["--help"],
  ["--version"],
  ["-e", "process.exit(3)"],
  ["--node-options=--require=/nonexistent.js"],
  ["--inspect-brk=0"],
  ["DEL"],
  ["list", "net"],
]) {
  test(`VERSION ignores its arguments: ${words.join(" ")}`, async (t) => {
    const outcome = run(executable, { ...versionCall(), arguments: words });

    t.equal(outcome.exitCode, 0);
    t.match(outcome.stdout, /^\{"cniVersion":"1\.1\.0","supportedVersions":\[/);
    t.equal(outcome.stderr, "");
  });
}

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
  const directory = scratchDirectory(t);

  const outcome = run(executable, { ...addTo("some//./where"), workingDirectory: directory });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
  t.ok(treeOf(directory).some(({ path }) => path === "some/where/net/10.0.0.2"));
});

test("ADD works with few file descriptors and a closed standard error", async (t) => {
  const outcome = run("/bin/sh", {
    ...addTo(scratchDirectory(t)),
    arguments: ["-c", 'ulimit -n 64; exec "$0" 2>&-', executable],
  });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
});

for (const [what, script, code, msg] of [
  [
    "standard input that is a directory",
    'exec "$0" </',
    5,
    "error reading from stdin: read /dev/stdin: ",
  ],
  [
    "standard input that is closed",
    'exec "$0" <&-',
    5,
    "error reading from stdin: read /dev/stdin: ",
  ],
  ["standard input that is empty", 'exec "$0" </dev/null', 6, "unexpected end of JSON input"],
  [
    "a container id that is not UTF-8",
    'CNI_CONTAINERID=$(printf "a\\377b") exec "$0"',
    4,
    "invalid characters in containerID",
  ],
  [
    "an interface name that is not UTF-8",
    'CNI_IFNAME=$(printf "a\\377b") exec "$0"',
    4,
    "interface name is not UTF-8",
  ],
  [
    "an interface name with half of a character that UTF-8 does not divide",
    'CNI_IFNAME=$(printf "a\\355\\240\\200") exec "$0"',
    4,
    "interface name is not UTF-8",
  ],
  [
    "a long interface name that is not UTF-8",
    'CNI_IFNAME=$(printf "\\377\\377\\377\\377\\377\\377") exec "$0"',
    4,
    "interface name is not UTF-8",
  ],
] as const) {
  test(`ADD refuses ${what}`, async (t) => {
    const directory = scratchDirectory(t);

    const { exitCode, stdout, stderr } = run("/bin/sh", {
      ...addTo(directory),
      arguments: ["-c", script, executable],
    });

    t.same([exitCode, stderr], [1, ""]);
    t.match(readError(stdout), { code, msg });
    t.same(treeOf(directory, "whole"), []);
  });
}
