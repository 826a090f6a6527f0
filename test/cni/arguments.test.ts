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
  t.strictSame(values(""), []);
  t.strictSame(values("IP= 10.1.2.3 "), [" 10.1.2.3 "]);
  t.strictSame(values("IgnoreUnknown=1;IP=10.1.2.3;IP=10.1.2.4"), ["10.1.2.3", "10.1.2.4"]);
});

test("IgnoreUnknown allows unknown keys, at any position and in any letter case", async (t) => {
  for (const text of [
    "IgnoreUnknown=1;A=b",
    "A=b;IgnoreUnknown=1",
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
    [";", 'invalid pair ""'],
    ["IP=10.1.2.3=", 'invalid pair "IP=10.1.2.3="'],
    ["IP=bad", 'error parsing value of pair "IP=bad": invalid IP address bad'],
    [
      "IgnoreUnknown=T",
      'error parsing value of pair "IgnoreUnknown=T": boolean unmarshal error: invalid input t',
    ],
    ["=", 'unknown args ["="]'],
    [" IP=10.1.2.3", 'unknown args [" IP=10.1.2.3"]'],
    ["toString=1", 'unknown args ["toString=1"]'],
    ["IgnoreUnknown=1;A=b;IgnoreUnknown=0", 'unknown args ["A=b"]'],
    ["A=\u0001;B=c", 'unknown args ["A=\\x01" "B=c"]'],
  ];
  for (const [text, message] of cases) {
    const refusal = refusalOf(() => values(text));
    t.strictSame([refusal.code, refusal.message], [999, `ARGS: ${message}`], text);
  }
});

test("the first wrong pair is the one reported, and unknown keys come last", async (t) => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ["IP=bad;IgnoreUnknown=x", /"IP=bad"/],
    ["A=b;IP=bad", /"IP=bad"/],
    ["IP=bad;x", /"IP=bad"/],
  ];
  for (const [text, message] of cases)
    t.match(refusalOf(() => values(text)).message, message, text);
});
