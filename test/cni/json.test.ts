import fc from "fast-check";
import { test } from "tap";
import {
  elements,
  formatJson,
  integer,
  isObject,
  type Json,
  kindOf,
  type Located,
  memberInAnyCase,
  memberOrNullInAnyCase,
  parseJson,
  text,
  typeMismatch,
} from "../../src/cni/json.ts";
import { refusalOf } from "./refusal.ts";

function at(value: Json, path = ""): Located {
  return { value, path };
}

test("a valid document is parsed", async (t) => {
  t.strictSame(parseJson(' {"a":[1,-2.5e3,"x",true,null]}\r\n\t'), {
    a: [1, -2500, "x", true, null],
  });
});

test("text that is not JSON is an error with Go's message", async (t) => {
  t.throws(
    () => parseJson("hello"),
    new SyntaxError("invalid character 'h' looking for beginning of value"),
  );
  t.throws(() => parseJson(""), new SyntaxError("unexpected end of JSON input"));
  t.throws(
    () => parseJson("\ufeff{}"),
    new SyntaxError("invalid character 'ï' looking for beginning of value"),
  );
});

test("nesting is accepted down to 10000 brackets, as in Go", async (t) => {
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  t.doesNotThrow(() => parseJson(nested(10_000)));
  t.throws(
    () => parseJson(nested(10_001)),
    new SyntaxError("invalid character '[' exceeded max depth"),
  );
  t.throws(
    () => parseJson(`{"]\\"]":${nested(10_000)},"a":1}`),
    new SyntaxError("invalid character '[' exceeded max depth"),
  );
  t.throws(
    () => parseJson(`${'{"a":'.repeat(10_001)}1${"}".repeat(10_001)}`),
    new SyntaxError("invalid character '{' exceeded max depth"),
  );
});

test("an engine that accepts more than Go is asked twice about what only it accepts, and about nothing else", async (t) => {
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

test("a long document that is not deep is accepted", async (t) => {
  for (const text of ["[".repeat(20_000), '["'.repeat(20_000), "[\\".repeat(20_000)]) {
    t.doesNotThrow(() => parseJson(JSON.stringify({ a: text, b: "\\" })));
    t.doesNotThrow(() => parseJson(JSON.stringify({ [text]: [] })));
  }
  t.doesNotThrow(() => parseJson(`[${"[],".repeat(20_000)}{}]`));
});

test("values are written with four spaces and no final newline", async (t) => {
  t.equal(
    formatJson({ code: 7, msg: "missing network name", details: undefined }),
    '{\n    "code": 7,\n    "msg": "missing network name"\n}',
  );
  t.equal(formatJson({ dns: {} }), '{\n    "dns": {}\n}');
});

test("characters that are special in HTML or JavaScript are escaped, as by Go", async (t) => {
  t.equal(formatJson("IP <nil> & \u2028\u2029"), '"IP \\u003cnil\\u003e \\u0026 \\u2028\\u2029"');
});

test("every value that is formatted parses to itself", async (t) => {
  fc.assert(
    fc.property(fc.json(), (document) => {
      const value: Json = JSON.parse(document);
      t.same(parseJson(formatJson(value)), value);
    }),
    { numRuns: 50 },
  );
});

test("kinds are named as in Go's decoder", async (t) => {
  t.strictSame([null, true, 1, "x", [], {}].map(kindOf), [
    "null",
    "bool",
    "number",
    "string",
    "array",
    "object",
  ]);
  t.strictSame([null, true, 1, "x", [], {}].map(isObject), [
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
});

test("a member is found by its name, with its path", async (t) => {
  t.strictSame(memberInAnyCase(at({ ipam: { a: 1 } }), "ipam"), { value: { a: 1 }, path: "ipam" });
  t.strictSame(memberInAnyCase(at({ subnet: "x" }, "ipam.ranges[0][1]"), "subnet"), {
    value: "x",
    path: "ipam.ranges[0][1].subnet",
  });
});

test("names match in any letter case, and the last spelling counts", async (t) => {
  t.equal(memberInAnyCase(at({ RUNTIMEconfig: 1 }), "runtimeConfig")?.value, 1);
  t.equal(memberInAnyCase(at({ dataDir: "a", DATADIR: "b" }), "dataDir")?.value, "b");
  t.equal(memberInAnyCase(at({ DATADIR: "b", dataDir: "a" }), "dataDir")?.value, "a");
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

test("only an object has members", async (t) => {
  for (const [value, kind] of [
    [5, "number"],
    ["x", "string"],
    [true, "bool"],
    [[], "array"],
  ] as const) {
    t.strictSame(
      refusalOf(() => memberInAnyCase(at(value, "ipam"), "subnet")),
      {
        code: 999,
        message: `json: cannot unmarshal ${kind} into ipam: expected an object`,
        details: "",
      },
      kind,
    );
  }
});

test("elements have paths; an absent list is empty", async (t) => {
  t.strictSame(elements(at(["a", "b"], "args.cni.ips")), [
    { value: "a", path: "args.cni.ips[0]" },
    { value: "b", path: "args.cni.ips[1]" },
  ]);
  t.strictSame(elements(undefined), []);
  t.match(
    refusalOf(() => elements(at({}, "ipam.ranges"))).message,
    /^json: cannot unmarshal object into ipam\.ranges/,
  );
});

test("a string is read, an absent one is empty, and lone surrogates become U+FFFD", async (t) => {
  t.equal(text(at("a")), "a");
  t.equal(text(undefined), "");
  t.equal(text(at("a\ud800b")), "a\ufffdb");
  t.match(
    refusalOf(() => text(at(5, "ipam.type"))).message,
    /^json: cannot unmarshal number into ipam\.type/,
  );
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

test("a type error begins as the Go plugin's and names the expected type and the path", async (t) => {
  t.match(typeMismatch(at(true, "gcOnly"), "x"), {
    code: 999,
    message: "json: cannot unmarshal bool into gcOnly: expected x",
  });
});

test("a whole number may be written in any JSON notation", async (t) => {
  for (const written of ["1000", "1000.0", "1e3", "100E1", "10000e-1"]) {
    t.equal(integer(at(parseJson(written))), 1000, written);
  }
});
