import { test } from "tap";
import { requireAllowed, requireSupported, SUPPORTED_VERSIONS } from "../../src/cni/version.ts";
import { refusalOf } from "./refusal.ts";

const spoken = '["0.1.0" "0.2.0" "0.3.0" "0.3.1" "0.4.0" "1.0.0" "1.1.0"]';

test("ADD and DEL accept every supported version, CHECK those since 0.4.0; none means 0.1.0", async (t) => {
  for (const version of SUPPORTED_VERSIONS) t.equal(requireSupported(version), version);
  t.equal(requireSupported(""), "0.1.0");
  for (const version of SUPPORTED_VERSIONS.slice(4)) {
    t.equal(requireAllowed("CHECK", version), version);
  }
});

test("ADD and DEL accept only the exact text of a version", async (t) => {
  for (const version of ["1.0", "01.0.0", "+1.0.0", "1.0.0 ", "1.0.0.0", "0.3.2", "2.0.0", '1"']) {
    t.strictSame(
      refusalOf(() => requireSupported(version)),
      {
        code: 1,
        message: "incompatible CNI versions",
        details: `config is ${JSON.stringify(version)}, plugin supports ${spoken}`,
      },
      version,
    );
  }
});

test("a verb is refused under versions that are too old, too new, or between supported ones", async (t) => {
  type Case = readonly ["CHECK" | "GC" | "STATUS", readonly string[], message: string];
  const tooOld = ["", "0.1.0", "0.3.1", "0.3.9", "0", "0.3", "-1.0.0", "00.3.1", "0.-4.0"];
  const tooNew = ["1.1.1", "1.2", "2", "2.0.0", "10.0.0", "+2.0.0"];
  const between = [
    "0.4",
    "0.4.1",
    "0.9.0",
    "1",
    "1.0",
    "1.0.1",
    "01.0.0",
    "+1.0.0",
    "1.1",
    "1.1.-1",
  ];
  const cases: readonly Case[] = [
    ["CHECK", tooOld, "config version does not allow CHECK"],
    ["CHECK", tooNew, "plugin version does not allow CHECK"],
    ["CHECK", between, "incompatible CNI versions"],
    ["GC", [...tooOld, "0.4.0", "1", "1.0.0", "1.0.9"], "config version does not allow GC"],
    ["GC", tooNew, "plugin version does not allow GC"],
    ["GC", ["1.1", "01.1.0", "+1.1.0", "1.1.+0", "1.1.-0"], "incompatible CNI versions"],
    ["STATUS", [...tooOld, "0.4.0", "1.0.0"], "config version does not allow STATUS"],
    ["STATUS", tooNew, "plugin version does not allow STATUS"],
    ["STATUS", ["1.1"], "incompatible CNI versions"],
  ];
  for (const [verb, versions, message] of cases) {
    for (const version of versions) {
      const refusal = refusalOf(() => requireAllowed(verb, version));
      t.strictSame([refusal.code, refusal.message], [1, message], `${verb} ${version}`);
    }
  }
});

test("an invalid version is error 6 for CHECK, GC and STATUS", async (t) => {
  const syntax = (name: string, part: string): string =>
    `failed to convert ${name} version part "${part}": strconv.Atoi: parsing "${part}": invalid syntax`;
  const cases: readonly (readonly [version: string, message: string])[] = [
    ["asdf", syntax("major", "asdf")],
    ["1.x.0", syntax("minor", "x")],
    ["1.1.", syntax("micro", "")],
    ["..", syntax("major", "")],
    ["1.1.0 ", syntax("micro", "0 ")],
    ["0x1.1.0", syntax("major", "0x1")],
    ["1e1.1.0", syntax("major", "1e1")],
    ["+.1.0", syntax("major", "+")],
    ["a.b.c.d", 'invalid version "a.b.c.d": too many parts'],
    [
      "9223372036854775808.0.0",
      'failed to convert major version part "9223372036854775808": strconv.Atoi: parsing "9223372036854775808": value out of range',
    ],
  ];
  for (const verb of ["CHECK", "GC", "STATUS"] as const) {
    for (const [version, message] of cases) {
      const refusal = refusalOf(() => requireAllowed(verb, version));
      t.strictSame([refusal.code, refusal.message], [6, message], `${verb} ${version}`);
    }
  }
});
