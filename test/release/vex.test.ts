// test: release
/**
 * The OpenVEX document names every known vulnerability of the list, is valid, and its reasons hold for the linked libraries.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { programPurl } from "../../scripts/release/sbom.ts";
import { vulnerabilities } from "../../scripts/release/vex.ts";
import { archives, fileOf, version } from "./release.ts";

interface Statement {
  readonly vulnerability: { readonly name: string };
  readonly products: readonly {
    readonly "@id": string;
    readonly subcomponents: readonly { readonly "@id": string }[];
  }[];
  readonly status: string;
  readonly justification?: string;
}

const document = JSON.parse(readFileSync(fileOf(`host-local-v${version}.openvex.json`), "utf8"));
const statements: readonly Statement[] = document.statements;
const natives = archives.filter(({ isPortable }) => !isPortable);

/** The labels of OpenVEX 0.2.0. */
const JUSTIFICATIONS = [
  "component_not_present",
  "vulnerable_code_not_present",
  "vulnerable_code_not_in_execute_path",
  "vulnerable_code_cannot_be_controlled_by_adversary",
  "inline_mitigations_already_exist",
];

test("the document is one of OpenVEX 0.2.0", async (t) => {
  t.match(document, {
    "@context": "https://openvex.dev/ns/v0.2.0",
    timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    version: 1,
  });
  for (const { status, justification, products } of statements) {
    t.ok(["fixed", "not_affected"].includes(status));
    t.equal(JUSTIFICATIONS.includes(`${justification}`), status === "not_affected");
    t.equal(products[0]?.["@id"], programPurl({ version }));
    t.match(products[1]?.["@id"], /^pkg:oci\/host-local@sha256%3A[0-9a-f]{64}$/);
  }
});

test("every vulnerability of the list is stated about the library of every architecture, once", async (t) => {
  const purls = natives.map(({ name }) => {
    const sbom = readFileSync(fileOf(name.replace(/\.tgz$/, ".cdx.json")), "utf8");
    const components: readonly { name: string; purl: string }[] = JSON.parse(sbom).components;
    return new Map(components.map((work) => [work.name, work.purl]));
  });
  for (const { vulnerability, component } of vulnerabilities) {
    const found = statements.filter((statement) => statement.vulnerability.name === vulnerability);
    const stated = found.flatMap(({ products }) => products[0]?.subcomponents ?? []);
    t.strictSame(
      stated.map((product) => product["@id"]).sort(),
      purls.map((purlsByName) => purlsByName.get(component)).sort(),
      vulnerability,
    );
  }
  t.equal(
    new Set(vulnerabilities.map((entry) => entry.vulnerability)).size,
    vulnerabilities.length,
  );
});

test("a fault is stated as fixed where the changelog of what was linked names it", async (t) => {
  const statusesOf = (name: string) =>
    statements.flatMap(({ vulnerability, products, status }) =>
      vulnerability.name === name
        ? (products[0]?.subcomponents ?? []).map((product) => ({ purl: product["@id"], status }))
        : [],
    );
  // The libgcc of Debian 12's cross compilers was made before the fix.
  for (const { purl, status } of statusesOf("CVE-2023-4039")) {
    if (purl.includes("cross")) t.equal(status, "not_affected", purl);
  }
  t.ok(statusesOf("CVE-2025-46687").every(({ status }) => status === "fixed"));
});

test("what is said not to be linked or in the engine is not", async (t) => {
  const engine = readFileSync("src/system/quickjs/engine.c", "utf8");
  t.match(engine, "JS_AddIntrinsicDate(");
  for (const { vulnerability, intrinsic } of vulnerabilities) {
    if (intrinsic === undefined) continue;
    t.notMatch(engine, `JS_AddIntrinsic${intrinsic}(`, vulnerability);
  }
  t.notMatch(engine, "JS_NewContext(", "which adds all");
  for (const { architecture } of natives) {
    const map = join("build", "release", `native-${architecture.name}`, "link.map");
    const linked = readFileSync(map, "utf8").split("Linker script and memory map")[1] ?? "";
    t.match(linked, "libquickjs.a(quickjs.o)");
    t.match(linked, "libc.a(malloc.o)");
    for (const { vulnerability, absent = [] } of vulnerabilities) {
      for (const file of absent) {
        t.notMatch(linked, `(${file})`, `${vulnerability}: ${file} for ${architecture.name}`);
      }
    }
  }
});
