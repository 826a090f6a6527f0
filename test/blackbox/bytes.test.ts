// test: each executable, one if short, Go plugin
/** Bytes that are not UTF-8 in every text from outside: nothing behind them is swallowed. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "tap";
import { reservedAddresses, scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { extent } from "../harness/extent.ts";
import { goPlugin } from "../harness/go-plugin.ts";
import { decoded, hostileBytes } from "../harness/hostile-bytes.ts";
import type { Outcome } from "../harness/machine.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { attachmentCall, configuration, type JsonObject } from "../harness/runtime-call.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";
import { comparable } from "./comparison.ts";

/** The further texts of a call beside an attachment and a range, as bytes in Latin-1; the directory of the call is `/@`. */
interface Setting {
  readonly ipam?: JsonObject;
  readonly top?: JsonObject;
  readonly variables?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** The places for bytes that end where a text ends. */
const places: Readonly<Record<string, (bytes: string) => Setting>> = {
  "a member that nobody reads": (bytes) => ({ top: { unread: bytes, [bytes]: 1 } }),
  "the name of the network": (bytes) => ({ top: { name: `net${bytes}` } }),
  dataDir: (bytes) => ({ ipam: { dataDir: `/@/a${bytes}/b` } }),
  subnet: (bytes) => ({ ipam: { subnet: `198.51.100.0/29${bytes}` } }),
  "the container id": (bytes) => ({ variables: { CNI_CONTAINERID: `c1${bytes}` } }),
  "an argument that nobody reads": (bytes) => ({
    variables: { CNI_ARGS: `IgnoreUnknown=1;A=${bytes};IP=198.51.100.5` },
  }),
  "the requested address": (bytes) => ({ variables: { CNI_ARGS: `IP=198.51.100.5${bytes}` } }),
  "the name of an argument": (bytes) => ({ variables: { CNI_ARGS: `${bytes}=1;IP=198.51.100.5` } }),
  CNI_NETNS: (bytes) => ({ variables: { CNI_NETNS: `/run/netns/none${bytes}` } }),
  "a comment of resolv.conf": (bytes) => ({
    ipam: { resolvConf: "/@/resolv.conf" },
    files: { "resolv.conf": `# raum 7 ${bytes}\nnameserver 192.0.2.1\n` },
  }),
  "a value of resolv.conf": (bytes) => ({
    ipam: { resolvConf: "/@/resolv.conf" },
    files: { "resolv.conf": `search a.example ${bytes}\nnameserver 192.0.2.1\n` },
  }),
  "the path of resolv.conf": (bytes) => ({ ipam: { resolvConf: `/@/none${bytes}` } }),
  "the cursor": (bytes) => ({ files: { "data/net/last_reserved_ip.0": `198.51.100.4${bytes}` } }),
  "the owner of a reservation": (bytes) => ({
    files: {
      "data/net/198.51.100.2": `c1${bytes}\r\neth0`,
      "data/net/198.51.100.3": `c2\r\neth${bytes}`,
    },
  }),
  "the name of a file": (bytes) => ({
    files: {
      [`data/net/198.51.100.2${bytes}`]: "c2\r\neth0",
      "data/net/198.51.100.3": "c2\r\neth0",
    },
  }),
};

/** Bytes that neither end a text, nor are refused by JSON, nor divide a path. */
const inside = some([...new Set(hostileBytes.map((bytes) => bytes.replace(/["\r\n;/]/g, "")))]);

/** The texts to try: all in full, and a few of them in short. */
function some(texts: readonly string[]): readonly string[] {
  return extent === "short" ? sample(texts, 6, seed) : texts;
}

function callOf({ ipam, top, variables }: Setting, cniVersion: string) {
  const document = configuration(
    "/@/data",
    { subnet: "198.51.100.0/29", ...ipam },
    { cniVersion, ...top },
  );
  const { environment, stdin } = attachmentCall("ADD", { containerId: "c1" }, document);
  return { environment: { ...environment, ...variables }, stdin };
}

/** Runs an ADD on the real machine. */
function runIn(directory: string, program: string, setting: Setting, cniVersion: string): Outcome {
  for (const [name, content] of Object.entries(setting.files ?? {})) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(Buffer.from(`${directory}/${name}`, "latin1"), content, "latin1");
  }
  const { environment, stdin } = callOf(setting, cniVersion);
  const placed = (text: string): string => text.replaceAll("/@", directory);
  // A shell sets the variables: no string of Node.js has these bytes.
  const set = Object.entries(setting.variables ?? {}).map(
    ([name, value]) => `${name}=$(printf '${octal(placed(value))}') && export ${name} && `,
  );
  const outcome = run("/bin/sh", {
    environment,
    stdin: Buffer.from(placed(stdin), "latin1"),
    arguments: ["-c", `${set.join("")}exec "$0"`, program],
  });
  const shown = (text: string): string => text.replaceAll(directory, "/@");
  return { ...outcome, stdout: shown(outcome.stdout), stderr: shown(outcome.stderr) };
}

/** Bytes for printf(1). */
function octal(bytes: string): string {
  return Array.from(bytes, (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`).join(
    "",
  );
}

/** Runs the same ADD in memory, where each text is the expected one. */
function runInMemory(machine: MemoryMachine, setting: Setting, cniVersion: string): Outcome {
  machine.disk.makeDirectories("/@");
  for (const [name, content] of Object.entries(setting.files ?? {})) {
    machine.disk.put(`/@/${decoded(name)}`, decoded(content));
  }
  const { environment, stdin } = callOf(setting, cniVersion);
  const variables = Object.entries(environment).map(([name, value]) => [name, decoded(value)]);
  return machine.runPlugin({ environment: Object.fromEntries(variables), stdin: decoded(stdin) });
}

const cniVersion = goPlugin?.cniVersion ?? "1.1.0";

for (const [what, settingWith] of Object.entries(places)) {
  test(`bytes that are not UTF-8 in ${what} are each one character`, async (t) => {
    for (const bytes of inside) {
      const [own, reference] = [scratchDirectory(t), scratchDirectory(t)];
      const setting = settingWith(bytes);
      const machine = new MemoryMachine();

      const outcome = runIn(own, executable, setting, cniVersion);

      const inMemory = runInMemory(machine, setting, cniVersion);
      const { exitCode, stdout, stderr } = inMemory;
      t.same(outcome, { exitCode, stdout, stderr }, octal(bytes));
      t.same(
        namesOf(own),
        Object.keys(machine.disk.filesUnder("/@")).filter(isPromised).sort(),
        octal(bytes),
      );
      if (goPlugin?.current !== true) continue;
      const theirs = replacingEscapes(runIn(reference, goPlugin.path, setting, cniVersion));
      t.same(comparable(outcome, theirs), comparable(theirs, theirs), `Go: ${octal(bytes)}`);
      t.same(namesOf(own), namesOf(reference), `Go: ${octal(bytes)}`);
    }
  });
}

/** Replaces escapes by U+FFFD: Go escapes bytes that are not UTF-8 when it quotes a variable. */
function replacingEscapes(outcome: Outcome): Outcome {
  return { ...outcome, stdout: outcome.stdout.replace(/\\\\x[0-9a-f]{2}/g, "\ufffd") };
}

/** Every file below a directory, in the order of the bytes of its path. */
function namesOf(directory: string): readonly string[] {
  const { stdout } = spawnSync("find", [directory, "-type", "f", "-printf", "%P\\0"], {
    encoding: "latin1",
  });
  const paths = stdout.split("\0").filter((path) => path !== "");
  return paths.map(decoded).filter(isPromised).sort();
}

/** Whether both plugins promise a file. The Go plugin has no others, and makes the lock even for a call that fails. */
function isPromised(path: string): boolean {
  return !path.includes(".host-local") && !/(^|\/)lock$/.test(path);
}

test("bytes that are not UTF-8 in the journal make a call slower, and its answer no other", async (t) => {
  for (const bytes of some(hostileBytes)) {
    const directory = scratchDirectory(t);
    const call = (verb: string, containerId: string) =>
      run(
        executable,
        attachmentCall(
          verb,
          { containerId },
          configuration(directory, { subnet: "198.51.100.0/29" }),
        ),
      );
    for (const id of ["c1", "c2"]) call("ADD", id);
    const journal = treeOf(directory, "whole").find(({ path }) => path.endsWith("/journal"));
    const { path = "", content = "" } = journal ?? {};
    const at = content.indexOf("\n") + 1;
    writeFileSync(
      join(directory, path),
      content.slice(0, at) + bytes + content.slice(at),
      "latin1",
    );

    t.match(call("DEL", "c1"), { exitCode: 0, stdout: "", stderr: "" }, octal(bytes));
    t.match(call("ADD", "c3"), { exitCode: 0, stderr: "" }, octal(bytes));
    t.same(reservedAddresses(directory, "net"), ["198.51.100.3", "198.51.100.4"], octal(bytes));
  }
});

test("of a byte that JSON cannot have here, the error is Go's, whether it is UTF-8 or not", async (t) => {
  const expected = "error unmarshall network config: invalid character ";
  for (const [bytes, message] of [
    ["\xff", "'ÿ' looking for beginning of value"],
    ["\xc3\xbf", "'Ã' looking for beginning of value"],
    ["\xef\xbf\xbd", "'ï' looking for beginning of value"],
    ["\xe2\x82", "'â' looking for beginning of value"],
    ["\x80", "'\\u0080' looking for beginning of value"],
    ['{"name": \xb0}', "'°' looking for beginning of value"],
    ['{"name" \xad}', "'\\u00ad' after object key"],
    ['{"\xff\xc3\xbf": tr\xffe}', "'ÿ' in literal true (expecting 'u')"],
    ['{"\xff": "\\\xfe"}', "'þ' in string escape code"],
    ['{"\xff": "\\u00\xc3\xa9"}', "'Ã' in \\u hexadecimal character escape"],
    ['{"\xff": 1.\xff}', "'ÿ' after decimal point in numeric literal"],
    ['{"\xff": 1}\xfe', "'þ' after top-level value"],
  ] as const) {
    const { environment } = callOf({}, cniVersion);
    const call = { environment, stdin: Buffer.from(bytes, "latin1") };
    for (const program of [executable, ...(goPlugin === undefined ? [] : [goPlugin.path])]) {
      const { exitCode, stdout } = run(program, call);
      t.same([exitCode, JSON.parse(stdout).msg], [1, `${expected}${message}`], octal(bytes));
    }
  }
});
