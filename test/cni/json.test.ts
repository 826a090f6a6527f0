import { test } from "tap";
import {
  formatJson,
  integer,
  type Json,
  type Located,
  memberInAnyCase,
  memberOrNullInAnyCase,
  parseJson,
} from "../../src/cni/json.ts";
import { refusalOf } from "./refusal.ts";

function at(value: Json, path = ""): Located {
  return { value, path };
}

test("an engine that accepts more than Go is asked twice about only what Go does not accept", async (t) => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  const { parse } = JSON;
  const accepted = (text: string): boolean => {
    JSON.parse = () => null;
    try {
      return parseJson(text) === null;
    } catch {
      return false;
    } finally {
      JSON.parse = parse;
    }
  };
  for (const text of [
    ...["0.", "[5.]", "9.,", "1.5 9.e1", "1.:", "1./"],
    ...["-00", "[-09]"],
    ...['"\\x"', '"\\u12"', '"\\u12g4"', '"\\'],
    ...[nested(10_001), `"]"${nested(10_001)}`, `"\\"]"${nested(10_001)}`],
    "{".repeat(10_001),
  ]) {
    t.notOk(accepted(text), text.slice(0, 20));
  }
  const good = '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u09aF"';
  const shallow = `x${"[]".repeat(6000)}${"{}".repeat(6000)}${'"["'.repeat(11_000)}`;
  for (const text of ["x", "x.", ".", "x.1", "x0.0 9.9", "x-0", `x${good}`, nested(10_000)]) {
    t.ok(accepted(text), text.slice(0, 20));
  }
  t.ok(accepted(shallow), "not deep");
});

test("characters that are special in HTML or JavaScript are escaped, as by Go", async (t) => {
  t.equal(formatJson("IP <nil> & \u2028\u2029"), '"IP \\u003cnil\\u003e \\u0026 \\u2028\\u2029"');
});

test("names match in any letter case, and the last spelling counts", async (t) => {
  t.equal(memberInAnyCase(at({ RUNTIMEconfig: 1 }), "runtimeConfig")?.value, 1);
  t.equal(memberInAnyCase(at({ dataDir: "a", DATADIR: "b" }), "dataDir")?.value, "b");
  t.equal(memberInAnyCase(at({ DATADIR: "b", dataDir: "a" }), "dataDir")?.value, "a");
});

test("names match in every letter that Go takes for the same", async (t) => {
  t.equal(memberInAnyCase(at({ "\u017fubnet\u017f": 1 }), "subnets")?.value, 1);
  t.equal(memberInAnyCase(at({ "loc\u212aTimeout": 1 }), "lockTimeout")?.value, 1);
  t.equal(memberInAnyCase(at({ subnet: 1, "\u017fUBNET": 2 }), "subnet")?.value, 2);
  t.equal(memberInAnyCase(at({ "\u0130pam": 1, "\u0131pam": 1 }), "ipam"), undefined);
});

test("a member that is null counts as absent, unless null itself is asked for", async (t) => {
  t.equal(memberInAnyCase(at({ a: null }), "a"), undefined);
  t.equal(memberInAnyCase(at({ a: 1, A: null }), "a"), undefined);
  t.strictSame(memberOrNullInAnyCase(at({ a: null }), "a"), { value: null, path: "a" });
  t.equal(memberInAnyCase(at({}), "a"), undefined);
  t.equal(memberOrNullInAnyCase(at({}), "a"), undefined);
});

test("inherited properties are not members", async (t) => {
  for (const name of ["toString", "constructor", "__proto__"]) {
    t.equal(memberOrNullInAnyCase(at({}), name), undefined, name);
  }
  t.equal(memberOrNullInAnyCase(at(parseJson('{"__proto__":{"ipam":1}}')), "ipam"), undefined);
});

test("whole numbers are accepted in the range of Go's int", async (t) => {
  for (const value of [0, -1, 1500, 2 ** 62, -(2 ** 63)]) t.equal(integer(at(value)), value);
  for (const [value, found] of [
    [1.5, "number 1.5"],
    [2 ** 63, "number 9223372036854776000"],
    [1e19, "number 10000000000000000000"],
    [-1e19, "number -10000000000000000000"],
    ["5", "string"],
    [true, "bool"],
  ] as const) {
    const { message } = refusalOf(() => integer(at(value, "ipam.routes[0].mtu")));
    t.equal(
      message,
      `json: cannot unmarshal ${found} into ipam.routes[0].mtu: expected a whole number`,
    );
  }
});

test("a whole number may be written in any JSON notation", async (t) => {
  for (const written of ["1000", "1000.0", "1e3", "100E1", "10000e-1"]) {
    t.equal(integer(at(parseJson(written))), 1000, written);
  }
});
