// test: each executable
/** Nothing in the caller's environment changes what the plugin does, but the plugin's own variables. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { attachmentCall, configuration, versionCall } from "../harness/runtime-call.ts";
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

const containerId = "c1";

for (const [name, value] of shortSample([
  ...Object.entries(foreign),
  ["all of them at once", ""] as const,
])) {
  test(`ADD is the same with ${name}`, (t) => {
    const directory = scratchDirectory(t);
    const empty = scratchDirectory(t);
    const call = attachmentCall(
      "ADD",
      { containerId },
      configuration(directory, { subnet: "10.0.0.0/29" }),
    );
    const added = name in foreign ? { [name]: value } : foreign;
    const environment = { ...call.environment };
    for (const [variable, text] of Object.entries(added)) {
      environment[variable] = text.replace("@", empty);
    }

    const outcome = run(executable, { ...call, environment });

    t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
    t.same(treeOf(empty), [], "and nothing was written elsewhere");
    t.end();
  });
}

test("ADD works with nothing in the environment but what it requires", (t) => {
  const directory = scratchDirectory(t);
  const { stdin } = attachmentCall(
    "ADD",
    { containerId },
    configuration(directory, { subnet: "10.0.0.0/29" }),
  );

  const outcome = run(executable, {
    environment: {
      CNI_COMMAND: "ADD",
      CNI_CONTAINERID: containerId,
      CNI_IFNAME: "eth0",
      CNI_NETNS: "/none",
      CNI_PATH: "/opt/cni/bin",
    },
    stdin,
  });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
  t.end();
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
  test(`a call ignores its arguments: ${words.join(" ")}`, (t) => {
    const outcome = run(executable, { ...versionCall(), arguments: words });

    t.equal(outcome.exitCode, 0);
    t.match(outcome.stdout, /^\{"cniVersion":"1\.1\.0","supportedVersions":\[/);
    t.equal(outcome.stderr, "");
    t.end();
  });
}

test("a working directory that was removed does not matter", (t) => {
  const directory = scratchDirectory(t);
  const gone = join(directory, "gone");
  mkdirSync(gone);
  const call = attachmentCall(
    "ADD",
    { containerId },
    configuration(directory, { subnet: "10.0.0.0/29" }),
  );

  const outcome = run("/bin/sh", {
    ...call,
    workingDirectory: gone,
    arguments: ["-c", 'rmdir ../gone && exec "$0"', executable],
  });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
  t.end();
});

test("a relative data directory counts from the working directory", (t) => {
  const directory = scratchDirectory(t);
  const call = attachmentCall(
    "ADD",
    { containerId },
    configuration("some//./where", { subnet: "10.0.0.0/29" }),
  );

  const outcome = run(executable, { ...call, workingDirectory: directory });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
  t.ok(treeOf(directory).some(({ path }) => path === "some/where/net/10.0.0.2"));
  t.end();
});

test("few file descriptors and a closed standard error are enough", (t) => {
  const directory = scratchDirectory(t);
  const call = attachmentCall(
    "ADD",
    { containerId },
    configuration(directory, { subnet: "10.0.0.0/29" }),
  );

  const outcome = run("/bin/sh", {
    ...call,
    arguments: ["-c", 'ulimit -n 64; exec "$0" 2>&-', executable],
  });

  t.strictSame(outcome, { exitCode: 0, stdout: granted, stderr: "" });
  t.end();
});
