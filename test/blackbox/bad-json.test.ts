// test: each executable
/** Bad input on standard input, before any of it is looked at as a configuration. */

import { test } from "tap";
import { executable } from "../harness/executable.ts";
import type { Json } from "../harness/runtime-call.ts";
import { exactly, quote, refuses, validCall, withInput, withVariables } from "./refusal.ts";
import { shortSample } from "./short-sample.ts";

const depth = 10_001;

const noJson: readonly [string, string | Uint8Array, string][] = [
  ["nothing", "", "unexpected end of JSON input"],
  ["white space", " \t\r\n", "unexpected end of JSON input"],
  ["words", "hello", "invalid character 'h' looking for beginning of value"],
  ["YAML", "name: net", "invalid character 'a' in literal null (expecting 'u')"],
  ["a byte order mark", "\ufeff{}", "invalid character 'ï' looking for beginning of value"],
  [
    "UTF-16",
    Buffer.from('{"a":1}', "utf16le"),
    "invalid character '\\x00' looking for beginning of object key string",
  ],
  ["a NUL before it", "\0{}", "invalid character '\\x00' looking for beginning of value"],
  ["a NUL after it", "{}\0", "invalid character '\\x00' after top-level value"],
  ["a NUL in a string", '{"name":"a\0"}', "invalid character '\\x00' in string literal"],
  ["a bare line break in a string", '{"name":"a\n"}', "invalid character '\\n' in string literal"],
  ["a cut off object", '{"name":"net"', "unexpected end of JSON input"],
  ["a cut off string", '{"name":"ne', "unexpected end of JSON input"],
  ["a cut off literal", '{"a":tru', "invalid character ' ' in literal true (expecting 'e')"],
  ["a cut off escape", '{"a":"\\', "invalid character ' ' in string escape code"],
  [
    "a cut off Unicode escape",
    '{"a":"\\u12',
    "invalid character ' ' in \\u hexadecimal character escape",
  ],
  ["a cut off number", '{"a":-', "invalid character ' ' in numeric literal"],
  ["a cut off fraction", '{"a":1.', "invalid character ' ' after decimal point in numeric literal"],
  ["a cut off exponent", '{"a":1e', "invalid character ' ' in exponent of numeric literal"],
  [
    "a trailing comma",
    '{"a":1,}',
    "invalid character '}' looking for beginning of object key string",
  ],
  [
    "a trailing comma in a list",
    '{"a":[1,]}',
    "invalid character ']' looking for beginning of value",
  ],
  ["a comment", '{"a":1} // x', "invalid character '/' after top-level value"],
  [
    "single quotes",
    "{'a':1}",
    "invalid character '\\'' looking for beginning of object key string",
  ],
  [
    "a key without quotes",
    "{a:1}",
    "invalid character 'a' looking for beginning of object key string",
  ],
  ["no colon", '{"a" 1}', "invalid character '1' after object key"],
  ["two values", '{"a":1 2}', "invalid character '2' after object key:value pair"],
  ["two documents", '{"name":"a"}{"name":"b"}', "invalid character '{' after top-level value"],
  ["a leading zero", '{"a":01}', "invalid character '1' after object key:value pair"],
  ["a leading plus", '{"a":+1}', "invalid character '+' looking for beginning of value"],
  ["a lone minus", '{"a":-}', "invalid character '}' in numeric literal"],
  [
    "a number that ends in a dot",
    '{"a":1.}',
    "invalid character '}' after decimal point in numeric literal",
  ],
  ["a number without exponent", '{"a":1e}', "invalid character '}' in exponent of numeric literal"],
  ["a hexadecimal number", '{"a":0x10}', "invalid character 'x' after object key:value pair"],
  ["NaN", '{"a":NaN}', "invalid character 'N' looking for beginning of value"],
  ["Infinity", '{"a":Infinity}', "invalid character 'I' looking for beginning of value"],
  ["undefined", '{"a":undefined}', "invalid character 'u' looking for beginning of value"],
  ["a wrong literal", '{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
  ["a wrong escape", '{"a":"\\x"}', "invalid character 'x' in string escape code"],
  [
    "a wrong Unicode escape",
    '{"a":"\\u12g4"}',
    "invalid character 'g' in \\u hexadecimal character escape",
  ],
  [
    "a form feed between values",
    '{"a":\f1}',
    "invalid character '\\f' looking for beginning of value",
  ],
  [
    "a no-break space between values",
    '{"a":\u00a01}',
    "invalid character 'Â' looking for beginning of value",
  ],
  [
    `${depth} nested lists`,
    `{"name":"net","a":${"[".repeat(depth)}${"]".repeat(depth)}}`,
    "invalid character '[' exceeded max depth",
  ],
  [
    `${depth} nested objects`,
    `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
    "invalid character '{' exceeded max depth",
  ],
  ["a million open brackets", "[".repeat(1_000_000), "invalid character '[' exceeded max depth"],
];

for (const [what, stdin, message] of shortSample(noJson)) {
  test(`ADD with ${what} on standard input`, (t) =>
    refuses(t, withInput(stdin), 6, exactly(`error unmarshall network config: ${message}`)));
}

for (const command of ["DEL", "CHECK", "GC", "STATUS", "NOPE"]) {
  test(`${command} with words on standard input`, (t) =>
    refuses(
      t,
      withVariables({ CNI_COMMAND: command }, withInput("hello")),
      6,
      exactly(
        "error unmarshall network config: invalid character 'h' looking for beginning of value",
      ),
    ));
}

const noObject: readonly [string, string, number][] = [
  ["null", "null", 7],
  ["a list", "[]", 6],
  ["a number", "5", 6],
  ["a string", '"net"', 6],
  ["true", "true", 6],
  ["an empty object", "{}", 7],
];

for (const [what, stdin, code] of shortSample(noObject)) {
  test(`ADD with ${what} for a configuration`, (t) =>
    refuses(
      t,
      withInput(stdin),
      code,
      /^(missing network name|error unmarshall network config: )/,
    ));
}

const badNames: readonly [Json, number, string][] = [
  [null, 7, "missing network name"],
  ["", 7, "missing network name"],
  [5, 6, "error unmarshall network config: json: cannot unmarshal number"],
  [["net"], 6, "error unmarshall network config: json: cannot unmarshal array"],
  [{}, 6, "error unmarshall network config: json: cannot unmarshal object"],
  [true, 6, "error unmarshall network config: json: cannot unmarshal bool"],
  ...[
    ".",
    "..",
    "../net",
    "a/b",
    ".host-local",
    "-net",
    "_net",
    " net",
    "net ",
    "ne t",
    "net\n",
    "net\0",
    "né",
    "netｘ",
    "\ud800",
    "net\udfff",
    "net\u2028",
    "a\\b",
    "a:b",
    "<net>",
  ].map((name): [Json, number, string] => [name, 7, "invalid characters found in network name"]),
];

for (const [name, code, message] of shortSample(badNames)) {
  test(`ADD with the network name ${quote(name)}`, (t) =>
    refuses(t, validCall("ADD", { name }), code, message));
}

const badVersions: readonly [Json, number, string][] = [
  [5, 6, "decoding version from network config: json: cannot unmarshal number"],
  [[], 6, "decoding version from network config: json: cannot unmarshal array"],
  [true, 6, "decoding version from network config: json: cannot unmarshal bool"],
  ...[
    "2.0.0",
    "1.1.1",
    "0.9.0",
    "0.4",
    "1.0",
    "1",
    "v1.0.0",
    "01.0.0",
    "+1.0.0",
    "1.0.0 ",
    "x",
  ].map((version): [Json, number, string] => [version, 1, "incompatible CNI versions"]),
];

for (const [cniVersion, code, message] of shortSample(badVersions)) {
  test(`ADD with the version ${quote(cniVersion)}`, (t) =>
    refuses(t, validCall("ADD", { cniVersion }), code, message));
}

for (const [version, message] of [
  ["x", 'failed to convert major version part "x": strconv.Atoi: parsing "x": invalid syntax'],
  ["1.x", 'failed to convert minor version part "x": strconv.Atoi: parsing "x": invalid syntax'],
  ["1.1.x", 'failed to convert micro version part "x": strconv.Atoi: parsing "x": invalid syntax'],
  ["1.", 'failed to convert minor version part "": strconv.Atoi: parsing "": invalid syntax'],
  ["1.2.3.4", 'invalid version "1.2.3.4": too many parts'],
] as const) {
  test(`CHECK with the version ${quote(version)}`, (t) =>
    refuses(t, validCall("CHECK", { cniVersion: version }), 6, exactly(message)));
}

for (const [where, redirection, code] of [
  ["is a directory", "</", 5],
  ["is closed", "<&-", 5],
  ["is empty", "</dev/null", 6],
] as const) {
  test(`ADD with standard input that ${where}`, (t) =>
    refuses(
      t,
      { ...validCall(), arguments: ["-c", `exec "$0" ${redirection}`, executable] },
      code,
      code === 5 ? "error reading from stdin: read /dev/stdin: " : "unexpected end of JSON input",
      "/bin/sh",
    ));
}
