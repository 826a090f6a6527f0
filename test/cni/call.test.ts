import { test } from "tap";
import { type CniCall, receiveCall } from "../../src/cni/call.ts";
import { refuse } from "../harness/interruption.ts";
import { MemoryMachine } from "../harness/memory-machine.ts";
import { refusalOf } from "./refusal.ts";

type Environment = Readonly<Record<string, string>>;

const complete: Environment = {
  CNI_COMMAND: "ADD",
  CNI_CONTAINERID: "c1",
  CNI_NETNS: "/run/netns/x",
  CNI_IFNAME: "eth0",
  CNI_PATH: "/opt/cni/bin",
};
const configuration = '{"cniVersion":"1.1.0","name":"net","ipam":{}}';

/** The outcome of a call with these variables in place of the complete ones; an empty one is not set. */
function receive(environment: Environment, stdin = configuration): CniCall {
  return receiveCall(
    new MemoryMachine().start({ environment: { ...complete, ...environment }, stdin }),
  );
}

/** Code and message of the error. */
function refused(environment: Environment, stdin?: string): readonly [number, string] {
  const { code, message } = refusalOf(() => receive(environment, stdin));
  return [code, message];
}

const attachmentVerbs = ["ADD", "CHECK", "DEL"] as const;
const networkVerbs = ["GC", "STATUS"] as const;

test("a call for an attachment has what its verb needs", (t) => {
  for (const verb of attachmentVerbs) {
    t.match(
      receive({ CNI_COMMAND: verb, CNI_ARGS: "IP=10.1.2.3" }),
      {
        verb,
        network: { name: "net", version: "1.1.0", versionText: "1.1.0" },
        attachment: { containerId: "c1", interfaceName: "eth0" },
        networkNamespace: "/run/netns/x",
        arguments: "IP=10.1.2.3",
      },
      verb,
    );
  }
  t.end();
});

test("the call has the whole document", (t) => {
  const call = receive({});
  const { value, path } = "network" in call ? call.network.document : {};
  t.strictSame(
    { value, path },
    { value: { cniVersion: "1.1.0", name: "net", ipam: {} }, path: "" },
  );
  t.end();
});

test("GC and STATUS ignore the attachment, even an invalid one", (t) => {
  for (const verb of networkVerbs) {
    const call = receive({
      CNI_COMMAND: verb,
      CNI_CONTAINERID: "%%",
      CNI_NETNS: "",
      CNI_IFNAME: "a/b",
    });
    t.equal(call.verb, verb);
    t.notOk("attachment" in call);
  }
  t.end();
});

test("without a command nothing else is checked", (t) => {
  const machine = new MemoryMachine();
  const process = machine.start({ environment: { CNI_CONTAINERID: "%%" }, stdin: "{" });
  t.strictSame(receiveCall(process), { verb: "about" });
  t.strictSame(process.calls, [], "standard input is not read");
  t.end();
});

test("VERSION needs nothing but the command, and does not read standard input", (t) => {
  const process = new MemoryMachine().start({
    environment: { CNI_COMMAND: "VERSION", CNI_CONTAINERID: "%%", CNI_IFNAME: "a/b" },
    stdin: "{",
  });
  t.strictSame(receiveCall(process), { verb: "VERSION" });
  t.strictSame(process.calls, []);
  t.end();
});

test("a required variable that is missing or empty is named", (t) => {
  const cases: readonly (readonly [verb: string, variable: string])[] = [
    ...attachmentVerbs.map((verb) => [verb, "CNI_CONTAINERID"] as const),
    ["ADD", "CNI_NETNS"],
    ["CHECK", "CNI_NETNS"],
    ...attachmentVerbs.map((verb) => [verb, "CNI_IFNAME"] as const),
    ...[...attachmentVerbs, ...networkVerbs].map((verb) => [verb, "CNI_PATH"] as const),
  ];
  for (const [verb, variable] of cases) {
    t.strictSame(
      refused({ CNI_COMMAND: verb, [variable]: "" }),
      [4, `required env variables [${variable}] missing`],
      `${verb} without ${variable}`,
    );
  }
  t.end();
});

test("variables that a verb does not require may be missing", (t) => {
  t.match(receive({ CNI_COMMAND: "DEL", CNI_NETNS: "" }), { verb: "DEL", networkNamespace: "" });
  t.match(receive({ CNI_COMMAND: "ADD" }), { verb: "ADD", arguments: "" });
  t.end();
});

test("all missing variables are named together, in the Go plugin's order", (t) => {
  const none = { CNI_CONTAINERID: "", CNI_NETNS: "", CNI_IFNAME: "", CNI_PATH: "" };
  const cases: readonly (readonly [verb: string, names: string])[] = [
    ["ADD", "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"],
    ["CHECK", "CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH"],
    ["DEL", "CNI_CONTAINERID,CNI_IFNAME,CNI_PATH"],
    ["GC", "CNI_PATH"],
    ["STATUS", "CNI_PATH"],
  ];
  for (const [verb, names] of cases) {
    t.strictSame(
      refused({ ...none, CNI_COMMAND: verb }),
      [4, `required env variables [${names}] missing`],
      verb,
    );
  }
  t.end();
});

test("an invalid value is reported before a missing one, and an id before an interface", (t) => {
  const badId: readonly [number, string] = [4, "invalid characters in containerID"];
  const badInterface: readonly [number, string] = [4, "interface name is . or .."];
  t.strictSame(refused({ CNI_CONTAINERID: "%", CNI_NETNS: "" }), badId);
  t.strictSame(refused({ CNI_CONTAINERID: "", CNI_IFNAME: ".." }), badInterface);
  t.strictSame(refused({ CNI_CONTAINERID: "%", CNI_IFNAME: ".." }), badId);
  t.end();
});

test("the environment is checked before standard input", (t) => {
  t.match(refused({ CNI_PATH: "" }, "{"), [4]);
  t.match(refused({ CNI_CONTAINERID: "%" }, "{"), [4]);
  t.end();
});

test("an unknown command needs no variables and is reported only after the configuration", (t) => {
  const bare = { CNI_COMMAND: "NOPE", CNI_CONTAINERID: "", CNI_IFNAME: "..", CNI_PATH: "" };
  t.strictSame(refused(bare), [4, "unknown CNI_COMMAND: NOPE"]);
  t.match(refused(bare, ""), [6, "error unmarshall network config: unexpected end of JSON input"]);
  t.strictSame(refused(bare, "{}"), [7, "missing network name"]);
  t.end();
});

test("an unknown command is reported before the version is checked", (t) => {
  t.strictSame(refused({ CNI_COMMAND: "NOPE" }, '{"name":"n","cniVersion":5}'), [
    4,
    "unknown CNI_COMMAND: NOPE",
  ]);
  t.end();
});

test("commands are case-sensitive", (t) => {
  for (const command of ["add", "Add", " ADD", "ADD ", "version"]) {
    t.strictSame(refused({ CNI_COMMAND: command }), [4, `unknown CNI_COMMAND: ${command}`]);
  }
  t.end();
});

test("standard input that cannot be read is error 5", (t) => {
  for (const [code, reason] of [
    ["EBADF", "bad file descriptor"],
    ["EISDIR", "is a directory"],
    ["EIO", "input/output error"],
  ] as const) {
    const process = new MemoryMachine().start({
      environment: complete,
      interrupt: refuse("readStandardInput", code),
    });
    t.match(
      refusalOf(() => receiveCall(process)),
      {
        code: 5,
        message: new RegExp(`^error reading from stdin: read /dev/stdin: ${reason}$`),
      },
    );
  }
  t.end();
});

test("an invalid configuration is refused by every verb that reads one", (t) => {
  const value = 'into Go value of type struct { Name string "json:\\"name\\"" }';
  const field = "into Go struct field .name of type string";
  const cases: readonly (readonly [stdin: string, code: number, message: string])[] = [
    ["", 6, "unexpected end of JSON input"],
    [" \n\t\r", 6, "unexpected end of JSON input"],
    ['{"name":"n"', 6, "unexpected end of JSON input"],
    ["hello", 6, "invalid character 'h' looking for beginning of value"],
    ['\ufeff{"name":"n"}', 6, "invalid character 'ï' looking for beginning of value"],
    ['{"name":"n"} x', 6, "invalid character 'x' after top-level value"],
    ["[]", 6, `json: cannot unmarshal array ${value}`],
    ["5", 6, `json: cannot unmarshal number ${value}`],
    ['"x"', 6, `json: cannot unmarshal string ${value}`],
    ["true", 6, `json: cannot unmarshal bool ${value}`],
    ['{"name":5}', 6, `json: cannot unmarshal number ${field}`],
    ['{"name":true}', 6, `json: cannot unmarshal bool ${field}`],
    ['{"name":[]}', 6, `json: cannot unmarshal array ${field}`],
    ['{"name":{}}', 6, `json: cannot unmarshal object ${field}`],
  ];
  for (const verb of [...attachmentVerbs, ...networkVerbs, "NOPE"]) {
    for (const [stdin, code, message] of cases) {
      t.strictSame(
        refused({ CNI_COMMAND: verb }, stdin),
        [code, `error unmarshall network config: ${message}`],
        `${verb} ${stdin}`,
      );
    }
  }
  t.end();
});

test("a network without a name is refused", (t) => {
  for (const stdin of ["null", "{}", '{"name":null}', '{"name":""}', '{"nam":"x"}']) {
    t.strictSame(refused({}, stdin), [7, "missing network name"], stdin);
  }
  t.end();
});

test("the name's key matches in any letter case, and the last one counts", (t) => {
  t.match(receive({}, '{"NAME":"a"}'), { network: { name: "a" } });
  t.match(receive({}, '{"name":"a","Name":"b"}'), { network: { name: "b" } });
  t.end();
});

test("without cniVersion the version is 0.1.0 and its text is empty", (t) => {
  for (const version of ["", ',"cniVersion":null', ',"cniVersion":""']) {
    t.match(
      receive({}, `{"name":"n"${version}}`),
      { network: { version: "0.1.0", versionText: "" } },
      version,
    );
  }
  t.end();
});

test("a version that is not a string is error 6", (t) => {
  for (const [value, kind] of [
    ["5", "number"],
    ["true", "bool"],
    ["[]", "array"],
    ["{}", "object"],
  ] as const) {
    t.strictSame(
      refused({}, `{"name":"n","cniVersion":${value}}`),
      [
        6,
        `decoding version from network config: json: cannot unmarshal ${kind} into Go struct field .cniVersion of type string`,
      ],
      value,
    );
  }
  t.end();
});

test("each verb checks the version: ADD and DEL accept only exact ones, the others also report too old ones", (t) => {
  const cases: readonly (readonly [
    verb: string,
    version: string,
    code: number,
    message: string,
  ])[] = [
    ["ADD", "asdf", 1, "incompatible CNI versions"],
    ["DEL", "asdf", 1, "incompatible CNI versions"],
    ["DEL", "2.0.0", 1, "incompatible CNI versions"],
    ["CHECK", "0.3.1", 1, "config version does not allow CHECK"],
    ["CHECK", "0.9.0", 1, "incompatible CNI versions"],
    ["GC", "1.0.0", 1, "config version does not allow GC"],
    ["STATUS", "1.0.0", 1, "config version does not allow STATUS"],
    ["STATUS", "1.1.1", 1, "plugin version does not allow STATUS"],
  ];
  for (const [verb, version, code, message] of cases) {
    const stdin = JSON.stringify({ name: "n", cniVersion: version });
    t.strictSame(refused({ CNI_COMMAND: verb }, stdin), [code, message], `${verb} ${version}`);
  }
  t.end();
});

test("the name is checked before the version", (t) => {
  t.strictSame(refused({}, '{"cniVersion":"9"}'), [7, "missing network name"]);
  t.end();
});
