// test: native executable
/** install: what is in the directory, each of its three commands, and what is there then. */

import { lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { executable } from "../../harness/executable.ts";
import {
  emptyDirectory,
  hostLocal,
  type PluginDirectory,
  thisProgram,
} from "./plugin-directory.ts";

/** A file, or a symbolic link. */
type Content = { readonly bytes: Buffer; readonly mode: number } | { readonly link: string };

const file = (content: string | Buffer, mode = 0o755): Content => ({
  bytes: Buffer.from(content),
  mode,
});
const program = readFileSync(executable);
const go = hostLocal("v1.9.1");

/** What a name may have. */
const contents: Readonly<Record<string, Content>> = {
  this: file(program),
  "this-linked": { link: executable },
  "this-cut-short": file(program.subarray(0, 300_000)),
  "this-not-executable": file(program, 0o644),
  older: file(thisProgram("v0.9.0")),
  "newer-without-loader": file(thisProgram("v9.0.0").replace("/bin/sh", "/none/sh")),
  go: file(go),
  "another-go": file(hostLocal("v1.9.2")),
  "go-without-loader": file(go.replace("/bin/sh", "/none/sh")),
  quoting: file(`${go}# With arguments it is a tool for operators: host-local\n`),
  empty: file(""),
  broken: file("#!/bin/sh\nexit 3\n"),
  "link-to-nothing": { link: "nothing" },
  "other-link-to-nothing": { link: "nothing-else" },
};

/**
 * What is there: the plugin, the previous one, and whether the marker is (`M`). Then what is there after `install`,
 * `install --if-replaced` and `install --uninstall`; `=` as before, `!` as before with an error, and with `--force` what follows it.
 */
const table: readonly [string, string, string, string][] = [
  // Where it was not installed.
  ["- - -", "this - M", "=", "="],
  ["go - -", "this go M", "=", "="],
  ["go another-go -", "this go M", "=", "="],
  ["empty - -", "this empty M", "=", "="],
  ["link-to-nothing - -", "this link-to-nothing M", "=", "="],
  ["- go -", "this go M", "=", "go - -"],
  ["this-linked - -", "this - M", "=", "- - -"],
  // A run that was killed before its last step.
  ["go go -", "this go M", "=", "="],
  ["this go -", "this go M", "=", "go - -"],
  ["this - -", "this - M", "=", "- - -"],
  // Where it is installed.
  ["this - M", "=", "=", "- - -"],
  ["this go M", "=", "=", "go - -"],
  ["this older M", "=", "=", "older - -"],
  ["this broken M", "=", "=", "! broken - -"],
  ["this go-without-loader M", "=", "=", "! go-without-loader - -"],
  ["this link-to-nothing M", "=", "=", "! link-to-nothing - -"],
  // Another version of it.
  ["older - M", "this - M", "=", "- - -"],
  ["older go M", "this go M", "=", "go - -"],
  ["newer-without-loader go M", "this go M", "=", "go - -"],
  ["this-not-executable go M", "this go M", "=", "go - -"],
  // Replaced by another installer, or removed.
  ["go - M", "this go M", "this go M", "go - -"],
  ["another-go go M", "this another-go M", "this another-go M", "another-go go -"],
  ["quoting go M", "this quoting M", "this quoting M", "quoting go -"],
  ["go-without-loader go M", "this go M", "this go M", "go-without-loader go -"],
  [
    "go-without-loader broken M",
    "this go-without-loader M",
    "this go-without-loader M",
    "go-without-loader broken -",
  ],
  ["link-to-nothing go M", "this go M", "this go M", "link-to-nothing go -"],
  [
    "link-to-nothing other-link-to-nothing M",
    "this link-to-nothing M",
    "this link-to-nothing M",
    "link-to-nothing other-link-to-nothing -",
  ],
  ["broken go M", "this go M", "this go M", "go - -"],
  ["empty go M", "this go M", "this go M", "go - -"],
  ["this-cut-short go M", "this go M", "this go M", "go - -"],
  ["broken - M", "this broken M", "this broken M", "broken - -"],
  ["go broken M", "this go M", "this go M", "go broken -"],
  ["- go M", "this go M", "this go M", "go - -"],
  ["- - M", "this - M", "this - M", "- - -"],
];

/** Rows that do not differ by the name are tried with one. */
const names: readonly [string, typeof table][] = [
  ["host-local", table],
  ["static", table.filter((_, at) => at % 5 === 0)],
  ["host-local-ts", table.filter((_, at) => at % 5 === 1)],
];

const commands = [[], ["--if-replaced"], ["--uninstall"]];

for (const [name, rows] of names) {
  for (const [before, ...after] of rows) {
    for (const [at, command] of commands.entries()) {
      const [expected = ""] = after.slice(at);
      const title = `${name}: ${before}: install ${command.join("")} leaves ${expected}`;
      test(title, async (t) => {
        const directory = emptyDirectory(t);
        make(directory, name, before);
        const options = [...command, "--as", name, "--yes"];
        const [exitCode, stdout, stderr] = directory.install(...options);

        const isRefused = expected.startsWith("!");
        t.equal(exitCode, isRefused ? 2 : 0, `${stdout}${stderr}`);
        const isSame = isRefused || expected === "=";
        t.equal(stateOf(directory, name), isSame ? before : expected);
        if (command.includes("--if-replaced") && expected === "=") t.equal(stdout, "");
        if (!isRefused) return;
        t.match(stderr, `${name}.previous does not answer CNI_COMMAND=VERSION as a CNI plugin;`);
        t.equal(directory.install(...options, "--force")[0], 0);
        t.equal(stateOf(directory, name), expected.slice(2));
      });
    }
  }
}

/** Puts there what a row begins with. */
function make({ path }: PluginDirectory, name: string, state: string): void {
  const [target = "", previous = "", marker] = state.split(" ");
  makeOne(join(path, name), target);
  makeOne(join(path, `${name}.previous`), previous);
  if (marker === "M") writeFileSync(join(path, `${name}.installed`), "");
}

function makeOne(path: string, word: string): void {
  const content = contents[word];
  if (content === undefined) return;
  if ("link" in content) symlinkSync(content.link, path);
  else writeFileSync(path, content.bytes, { mode: content.mode });
}

/** What is there, in the words of the table; where there is another file, that is not equal to any. */
function stateOf({ path, names: found }: PluginDirectory, name: string): string {
  const [target, previous, marker] = [name, `${name}.previous`, `${name}.installed`];
  const others = found.filter((one) => ![target, previous, marker].includes(one));
  const words = [target, previous].map((one) => wordFor(join(path, one)));
  return [...words, found.includes(marker) ? "M" : "-", ...others].join(" ");
}

function wordFor(path: string): string {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return "-";
  const is = (content: Content): boolean =>
    "link" in content
      ? status.isSymbolicLink() && readlinkSync(path) === content.link
      : status.isFile() &&
        (status.mode & 0o7777) === content.mode &&
        readFileSync(path).equals(content.bytes);
  return Object.keys(contents).find((word) => is(contents[word] ?? { link: "" })) ?? "unknown";
}
