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

test("a call for an attachment has what its verb needs", async (t) => {
  for (const verb of ["ADD", "CHECK", "DEL"] as const) {
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
});

test("the call has the whole document", async (t) => {
  const call = receive({});
  const { value, path } = "network" in call ? call.network.document : {};
  t.strictSame(
    { value, path },
    { value: { cniVersion: "1.1.0", name: "net", ipam: {} }, path: "" },
  );
});

test("without a command nothing else is checked", async (t) => {
  const machine = new MemoryMachine();
  const process = machine.start({ environment: { CNI_CONTAINERID: "%%" }, stdin: "{" });
  t.strictSame(receiveCall(process), { verb: "about" });
  t.strictSame(process.calls, [], "standard input is not read");
});

test("VERSION needs nothing but the command, and does not read standard input", async (t) => {
  const process = new MemoryMachine().start({
    environment: { CNI_COMMAND: "VERSION", CNI_CONTAINERID: "%%", CNI_IFNAME: "a/b" },
    stdin: "{",
  });
  t.strictSame(receiveCall(process), { verb: "VERSION" });
  t.strictSame(process.calls, []);
});

test("variables that a verb does not require may be missing", async (t) => {
  t.match(receive({ CNI_COMMAND: "DEL", CNI_NETNS: "" }), { verb: "DEL", networkNamespace: "" });
  t.match(receive({ CNI_COMMAND: "ADD" }), { verb: "ADD", arguments: "" });
});

test("an invalid value is reported before a missing one, and an id before an interface", async (t) => {
  const badId: readonly [number, string] = [4, "invalid characters in containerID"];
  const badInterface: readonly [number, string] = [4, "interface name is . or .."];
  t.strictSame(refused({ CNI_CONTAINERID: "%", CNI_NETNS: "" }), badId);
  t.strictSame(refused({ CNI_CONTAINERID: "", CNI_IFNAME: ".." }), badInterface);
  t.strictSame(refused({ CNI_CONTAINERID: "%", CNI_IFNAME: ".." }), badId);
});

test("the environment is checked before standard input", async (t) => {
  t.match(refused({ CNI_PATH: "" }, "{"), [4]);
  t.match(refused({ CNI_CONTAINERID: "%" }, "{"), [4]);
});

test("an unknown command needs no variables and is reported only after the configuration", async (t) => {
  const bare = { CNI_COMMAND: "NOPE", CNI_CONTAINERID: "", CNI_IFNAME: "..", CNI_PATH: "" };
  t.strictSame(refused(bare), [4, "unknown CNI_COMMAND: NOPE"]);
  t.match(refused(bare, ""), [6, "error unmarshall network config: unexpected end of JSON input"]);
  t.strictSame(refused(bare, "{}"), [7, "missing network name"]);
});

test("an unknown command is reported before the version is checked", async (t) => {
  t.strictSame(refused({ CNI_COMMAND: "NOPE" }, '{"name":"n","cniVersion":5}'), [
    4,
    "unknown CNI_COMMAND: NOPE",
  ]);
});

test("standard input that cannot be read is error 5", async (t) => {
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
});

test("a network without a name is refused", async (t) => {
  for (const stdin of ["null", "{}", '{"name":null}', '{"name":""}', '{"nam":"x"}']) {
    t.strictSame(refused({}, stdin), [7, "missing network name"], stdin);
  }
});

test("the name is checked before the version", async (t) => {
  t.strictSame(refused({}, '{"cniVersion":"9"}'), [7, "missing network name"]);
});
