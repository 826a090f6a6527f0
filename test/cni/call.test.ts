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

test("without a command, and with VERSION, nothing else is checked, nor is standard input read", async (t) => {
  for (const [command, verb] of [
    ["", "about"],
    ["VERSION", "VERSION"],
  ] as const) {
    const process = new MemoryMachine().start({
      environment: { CNI_COMMAND: command, CNI_CONTAINERID: "%%", CNI_IFNAME: "a/b" },
      stdin: "{",
    });
    t.strictSame(receiveCall(process), { verb });
    t.strictSame(process.calls, []);
  }
});

test("of several things that are wrong the first in the Go plugin's order is reported", async (t) => {
  const badId: readonly [number, string] = [4, "invalid characters in containerID"];
  const badInterface: readonly [number, string] = [4, "interface name is . or .."];
  t.strictSame(refused({ CNI_CONTAINERID: "%", CNI_NETNS: "" }), badId, "invalid, then missing");
  t.strictSame(refused({ CNI_CONTAINERID: "", CNI_IFNAME: ".." }), badInterface);
  t.strictSame(refused({ CNI_CONTAINERID: "%", CNI_IFNAME: ".." }), badId);
  t.match(refused({ CNI_PATH: "" }, "{"), [4], "the environment, then standard input");
  t.match(refused({ CNI_CONTAINERID: "%" }, "{"), [4]);
  t.strictSame(refused({}, '{"cniVersion":"9"}'), [7, "missing network name"], "name, version");

  const bare = { CNI_COMMAND: "NOPE", CNI_CONTAINERID: "", CNI_IFNAME: "..", CNI_PATH: "" };
  const unknown = [4, "unknown CNI_COMMAND: NOPE"];
  t.strictSame(refused(bare), unknown, "it needs no variables");
  t.strictSame(refused(bare, "{}"), [7, "missing network name"], "name, command");
  t.strictSame(refused(bare, '{"name":"n","cniVersion":5}'), unknown, "command, version");
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
