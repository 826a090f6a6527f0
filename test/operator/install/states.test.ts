// test: native executable
/** install: what is in the directory, each of its three commands, and what is there then. */

import { test } from "tap";
import { directoryWith } from "./plugin-directory.ts";

/**
 * What is there: the plugin, the previous one, and whether the marker is (`M`). Then what is there after `install`,
 * `install --if-replaced` and `install --uninstall`; `=` as before, `!` as before since it is refused, and with `--force` what
 * follows it.
 */
const table: readonly [string, string, string, string][] = [
  // Where it was not installed.
  ["- - -", "this - M", "=", "="],
  ["go - -", "this go M", "=", "="],
  ["go another-go -", "this go M", "=", "="],
  ["empty - -", "this empty M", "=", "="],
  ["link-to-nothing - -", "this link-to-nothing M", "=", "="],
  ["this-linked - -", "this - M", "=", "- - -"],
  ["- go -", "this go M", "=", "go - -"],
  // A run that was killed before its last step.
  ["go go -", "this go M", "=", "="],
  ["this go -", "this go M", "=", "go - -"],
  ["this - -", "this - M", "=", "- - -"],
  ["- - link-to-nothing", "this - M", "=", "="],
  ["go - other-marker", "this go M", "=", "="],
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
  ["this-but-a-byte - M", "this - M", "=", "- - -"],
  ["newer-without-loader go M", "this go M", "=", "go - -"],
  ["this-not-executable go M", "this go M", "=", "go - -"],
  // Replaced by another installer, or removed.
  ["go - M", "this go M", "this go M", "go - -"],
  ["another-go go M", "this another-go M", "this another-go M", "another-go go -"],
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
  // In place of another plugin, only where it was installed: see other-name.test.ts.
  ["host-local-ts", table.filter(([state], at) => state.endsWith("M") && at % 5 === 1)],
];

const commands = [[], ["--if-replaced"], ["--uninstall"]];

for (const [name, rows] of names) {
  for (const [before, ...after] of rows) {
    for (const [at, command] of commands.entries()) {
      const [expected = ""] = after.slice(at);
      const title = `${name}: ${before}: install ${command.join("")} leaves ${expected}`;
      test(title, async (t) => {
        const directory = directoryWith(t, before, name);
        const options = [...command, "--as", name, "--yes"];
        const [exitCode, stdout, stderr] = directory.install(...options);

        const isRefused = expected.startsWith("!");
        t.equal(exitCode, isRefused ? 1 : 0, `${stdout}${stderr}`);
        const isSame = isRefused || expected === "=";
        t.equal(directory.state, isSame ? before : expected);
        if (command.includes("--if-replaced") && expected === "=") t.equal(stdout, "");
        if (!isRefused) return;
        t.match(stderr, `${name}.previous does not answer CNI_COMMAND=VERSION as a CNI plugin:`);
        t.equal(directory.install(...options, "--force")[0], 0);
        t.equal(directory.state, expected.slice(2));
      });
    }
  }
}
