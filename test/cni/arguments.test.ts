import { test } from "tap";
import { readArguments } from "../../src/cni/arguments.ts";
import { internalError } from "../../src/cni/error.ts";
import { refusalOf } from "./refusal.ts";

/** The values that a plugin which knows `IP` is given; `bad` is one that it refuses. */
function values(text: string): readonly string[] {
  const taken: string[] = [];
  readArguments(text, {
    IP: (value) => {
      if (value === "bad") throw internalError("invalid IP address bad");
      taken.push(value);
    },
  });
  return taken;
}

test("values of known keys are passed on unchanged, from left to right", async (t) => {
  const cases: readonly (readonly [text: string, values: readonly string[]])[] = [
    ["", []],
    ["IP=10.1.2.3", ["10.1.2.3"]],
    ["IP=", [""]],
    ["IP= 10.1.2.3 ", [" 10.1.2.3 "]],
    ["IP=10.1.2.3,10.1.2.4", ["10.1.2.3,10.1.2.4"]],
    ["IP=10.1.2.3;IP=10.1.2.4", ["10.1.2.3", "10.1.2.4"]],
    ["IP=10.1.2.3;IP=", ["10.1.2.3", ""]],
    ["IgnoreUnknown=1;IP=10.1.2.3", ["10.1.2.3"]],
  ];
  for (const [text, expected] of cases) t.strictSame(values(text), expected, text);
});

test("IgnoreUnknown allows unknown keys, at any position and in any letter case", async (t) => {
  for (const text of [
    "IgnoreUnknown=1;A=b",
    "A=b;IgnoreUnknown=1",
    "IgnoreUnknown=true;A=b",
    "IgnoreUnknown=TRUE;A=b",
    "IgnoreUnknown=tRuE;A=b",
    "IgnoreUnknown=0;A=b;IgnoreUnknown=1",
    "IgnoreUnknown=1;=b",
    "IgnoreUnknown=1;A=",
  ]) {
    t.doesNotThrow(() => values(text), text);
  }
});

test("invalid arguments are error 999 with the Go plugin's message", async (t) => {
  const cases: readonly (readonly [text: string, message: string])[] = [
    ["IP", 'ARGS: invalid pair "IP"'],
    ["IP=10.1.2.3;", 'ARGS: invalid pair ""'],
    [";IP=10.1.2.3", 'ARGS: invalid pair ""'],
    [";", 'ARGS: invalid pair ""'],
    ["IP=a=b", 'ARGS: invalid pair "IP=a=b"'],
    ["IP=10.1.2.3=", 'ARGS: invalid pair "IP=10.1.2.3="'],
    ["IgnoreUnknown=0, Unk=nown", 'ARGS: invalid pair "IgnoreUnknown=0, Unk=nown"'],
    ["IP=bad", 'ARGS: error parsing value of pair "IP=bad": invalid IP address bad'],
    [
      "IgnoreUnknown=Yes",
      'ARGS: error parsing value of pair "IgnoreUnknown=Yes": boolean unmarshal error: invalid input yes',
    ],
    [
      "IgnoreUnknown=",
      'ARGS: error parsing value of pair "IgnoreUnknown=": boolean unmarshal error: invalid input ',
    ],
    [
      "IgnoreUnknown=T",
      'ARGS: error parsing value of pair "IgnoreUnknown=T": boolean unmarshal error: invalid input t',
    ],
    ["A=b", 'ARGS: unknown args ["A=b"]'],
    ["=b", 'ARGS: unknown args ["=b"]'],
    ["=", 'ARGS: unknown args ["="]'],
    ["ip=10.1.2.3", 'ARGS: unknown args ["ip=10.1.2.3"]'],
    [" IP=10.1.2.3", 'ARGS: unknown args [" IP=10.1.2.3"]'],
    ["ignoreunknown=1", 'ARGS: unknown args ["ignoreunknown=1"]'],
    ["toString=1", 'ARGS: unknown args ["toString=1"]'],
    [
      "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p",
      'ARGS: unknown args ["K8S_POD_NAMESPACE=ns" "K8S_POD_NAME=p"]',
    ],
    ["IgnoreUnknown=1;A=b;IgnoreUnknown=0", 'ARGS: unknown args ["A=b"]'],
    ['A="é\u0001', 'ARGS: unknown args ["A=\\"é\\x01"]'],
    [
      "CommonArgs=1",
      "ARGS: cannot unmarshal into field 'CommonArgs' - type '*types.CommonArgs' does not implement encoding.TextUnmarshaler",
    ],
  ];
  for (const [text, message] of cases) {
    const refusal = refusalOf(() => values(text));
    t.strictSame([refusal.code, refusal.message], [999, message], text);
  }
});

test("the first wrong pair is the one reported, and unknown keys come last", async (t) => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ["IP=bad;IgnoreUnknown=x", /"IP=bad"/],
    ["IgnoreUnknown=x;IP=bad", /"IgnoreUnknown=x"/],
    ["A=b;IP=bad", /"IP=bad"/],
    ["A=b;x", /invalid pair "x"/],
    ["IP=bad;x", /"IP=bad"/],
  ];
  for (const [text, message] of cases)
    t.match(refusalOf(() => values(text)).message, message, text);
});
