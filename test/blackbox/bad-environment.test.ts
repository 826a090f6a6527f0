// test: each executable
/** Bad input in the environment: one error object on standard output, nothing changed. */

import { test } from "tap";
import { scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { executable, run } from "../harness/executable.ts";
import { exactly, here, quote, refuses, validCall, withVariables } from "./refusal.ts";
import { shortSample } from "./short-sample.ts";

const bell = String.fromCharCode(7);
const verbs = ["ADD", "CHECK"] as const;

const badEnvironments: readonly [string, Readonly<Record<string, string>>, string][] = [
  ["no container id", { CNI_CONTAINERID: "" }, "required env variables [CNI_CONTAINERID] missing"],
  ["no namespace", { CNI_NETNS: "" }, "required env variables [CNI_NETNS] missing"],
  ["no interface", { CNI_IFNAME: "" }, "required env variables [CNI_IFNAME] missing"],
  ["no path", { CNI_PATH: "" }, "required env variables [CNI_PATH] missing"],
  [
    "nothing but the command",
    { CNI_CONTAINERID: "", CNI_NETNS: "", CNI_IFNAME: "", CNI_PATH: "" },
    "required env variables [CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH] missing",
  ],
  ["an unknown command", { CNI_COMMAND: "NOPE" }, "unknown CNI_COMMAND: NOPE"],
  ["a command in lower case", { CNI_COMMAND: "add" }, "unknown CNI_COMMAND: add"],
  ["a command with a space", { CNI_COMMAND: "ADD " }, "unknown CNI_COMMAND: ADD "],
  ["a command with markup", { CNI_COMMAND: "<&>" }, "unknown CNI_COMMAND: <&>"],
  ...[
    "a/b",
    "../c1",
    ".c1",
    "-c1",
    "_c1",
    "a b",
    "a\n",
    "a\r\nb",
    "a:b",
    "é",
    "a\u00e9",
    "漢字",
    " ",
    "a\u2028b",
    bell,
    "\ufeffc1",
    "a%00b",
    "$(id)",
  ].map((id): [string, Readonly<Record<string, string>>, string] => [
    `the container id ${quote(id)}`,
    { CNI_CONTAINERID: id },
    "invalid characters in containerID",
  ]),
  ...["1234567890123456", "éééééééé", "漢字漢字漢字"].map(
    (name): [string, Readonly<Record<string, string>>, string] => [
      `the interface name ${quote(name)} of more than 15 bytes`,
      { CNI_IFNAME: name },
      "interface name is too long",
    ],
  ),
  ...[".", ".."].map((name): [string, Readonly<Record<string, string>>, string] => [
    `the interface name ${quote(name)}`,
    { CNI_IFNAME: name },
    "interface name is . or ..",
  ]),
  ...[
    "a/b",
    "a:b",
    " ",
    "a b",
    "\t",
    "a\n",
    "a\r\nb",
    "a\u000bb",
    "a\fb",
    "a\u0085b",
    "a\u00a0b",
    "a\u1680b",
    "a\u2000b",
    "a\u200ab",
    "a\u2028b",
    "a\u2029b",
    "a\u202fb",
    "a\u205fb",
    "a\u3000b",
  ].map((name): [string, Readonly<Record<string, string>>, string] => [
    `the interface name ${quote(name)}`,
    { CNI_IFNAME: name },
    "interface name contains / or : or whitespace characters",
  ]),
];

for (const [what, variables, message] of shortSample(badEnvironments)) {
  test(`ADD with ${what}`, (t) => refuses(t, withVariables(variables), 4, exactly(message)));
}

for (const name of ["a\ufeffb", "a\u200bb", "a\\b", "-a", "...", "ééééééé", "1234567890ab.-_"]) {
  test(`the interface name ${quote(name)} is good input`, (t) => {
    const directory = scratchDirectory(t);
    const call = withVariables({ CNI_IFNAME: name });

    const outcome = run(executable, {
      ...call,
      stdin: String(call.stdin).replace(here, directory),
    });

    t.equal(outcome.exitCode, 0);
    const file = treeOf(directory).find(({ path }) => path === "net/10.0.0.2");
    t.equal(Buffer.from(file?.content ?? "", "latin1").toString("utf8"), `c1\r\n${name}`);
    t.end();
  });
}

test("ADD with a container id that is no UTF-8", (t) =>
  refuses(
    t,
    {
      ...validCall(),
      arguments: ["-c", 'CNI_CONTAINERID=$(printf "a\\377b") exec "$0"', executable],
    },
    4,
    "invalid characters in containerID",
    "/bin/sh",
  ));

const badArguments: readonly [string, string][] = [
  ["IP", 'ARGS: invalid pair "IP"'],
  ["=", 'ARGS: unknown args ["="]'],
  [";", 'ARGS: invalid pair ""'],
  ["IP=10.0.0.9;", 'ARGS: invalid pair ""'],
  ["IP=10.0.0.9=", 'ARGS: invalid pair "IP=10.0.0.9="'],
  ["IP=bad", 'ARGS: error parsing value of pair "IP=bad": invalid IP address bad'],
  [
    "IP= 10.0.0.9",
    'ARGS: error parsing value of pair "IP= 10.0.0.9": invalid IP address  10.0.0.9',
  ],
  [
    "IP=10.0.0.9,10.0.0.8",
    'ARGS: error parsing value of pair "IP=10.0.0.9,10.0.0.8": invalid IP address 10.0.0.9,10.0.0.8',
  ],
  ["ip=10.0.0.9", 'ARGS: unknown args ["ip=10.0.0.9"]'],
  ["K8S_POD_NAME=p;A=b", 'ARGS: unknown args ["K8S_POD_NAME=p" "A=b"]'],
  [
    "IgnoreUnknown=Yes",
    'ARGS: error parsing value of pair "IgnoreUnknown=Yes": boolean unmarshal error: invalid input yes',
  ],
  ["IgnoreUnknown=0;A=b", 'ARGS: unknown args ["A=b"]'],
  [`A="${bell}\t\u00e9`, 'ARGS: unknown args ["A=\\"\\a\\té"]'],
];

for (const command of verbs) {
  for (const [value, message] of shortSample(badArguments)) {
    test(`${command} with CNI_ARGS ${quote(value)}`, (t) =>
      refuses(t, withVariables({ CNI_ARGS: value }, validCall(command)), 999, exactly(message)));
  }
}
