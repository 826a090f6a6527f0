/** What belongs to a key of the configuration besides its reader: CONTRIBUTING.md, "A new key". */

import { readFileSync } from "node:fs";
import { test } from "tap";
import { loadConfig } from "../../src/configuration/load-config.ts";
import { goKeys, loadStoreConfig, ownKeys } from "../../src/ipam/config.ts";
import { refusalOf } from "../cni/refusal.ts";
import { exampleFiles, loadExample } from "../e2e/example.ts";
import { inRepository } from "../harness/repository.ts";
import { noFiles, received } from "./network-configuration.ts";

const keys = [...goKeys, ...ownKeys];

/** The Go plugin reads `ipam.name`, too, and does nothing with it. */
const usedKeys = keys.filter((key) => key !== "name");

/** Keys without an example in conf-examples, and why. */
const withoutExample: Readonly<Record<string, string>> = {
  dataDir: "An example is to work on any node, with the default.",
};

/** A value that is wrong for every key. */
const INVALID = -1;

/** Some keys are those of a range, too. */
function rangesIn({ ranges = [] }: { readonly ranges?: readonly unknown[] }): readonly object[] {
  return ranges.flat().map((range) => Object(range));
}

test("a key has a row in docs/configuration.md, which says whether it is new", async (t) => {
  const page = readFileSync(inRepository("docs/configuration.md"), "utf8");
  const cells = [...page.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = ""]) => cell);
  for (const key of usedKeys) {
    const cell = cells.find((cell) => cell.includes(`\`${key}\``));
    t.equal(
      cell?.includes("*(new)*"),
      ownKeys.some((own) => own === key),
      key,
    );
  }
});

test("a key is in an example, or there is a reason", async (t) => {
  const plugins = exampleFiles.flatMap((file) => loadExample(file).plugins);
  const settings = plugins.map(({ ipam }) => Object(ipam)).filter(({ type }) => type !== "static");
  const shown = new Set([...settings, ...settings.flatMap(rangesIn)].flatMap(Object.keys));
  for (const key of usedKeys) t.equal(shown.has(key), !(key in withoutExample), key);
});

test("an invalid value of a key is an error in ADD, and no reason for DEL to leave an address", async (t) => {
  const defaults = loadStoreConfig(received({ ipam: {} }));
  for (const key of keys) {
    const configuration = received({ ipam: { subnet: "10.1.2.0/24", [key]: INVALID } });
    const { message } = refusalOf(() => loadConfig(configuration, "", noFiles));
    t.ok(message.includes(`ipam.${key}:`), message);
    if (key === "dataDir") continue; // nothing can be found without it
    t.strictSame(loadStoreConfig(configuration), defaults, key);
  }
});
