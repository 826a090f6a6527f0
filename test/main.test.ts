import { test } from "tap";
import { main } from "../src/main.ts";
import { type Interrupt, refuse } from "./harness/interruption.ts";
import { MemoryMachine, type Outcome } from "./harness/memory-machine.ts";
import { Network } from "./harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };

function run(environment: Readonly<Record<string, string>>, interrupt?: Interrupt): Outcome {
  return new MemoryMachine().run({ environment, interrupt }, main);
}

test("a failure is one error object on standard output, and exit code 1", async (t) => {
  const { exitCode, stdout, stderr } = run({ CNI_COMMAND: "STATUS" });

  t.same([exitCode, stderr], [1, ""]);
  t.equal(
    stdout,
    `{
    "code": 4,
    "msg": "required env variables [CNI_PATH] missing"
}`,
  );
});

test("the details of an error end with the trace of the call, if that is a valid one", async (t) => {
  const network = new Network(new MemoryMachine(), subnet, { name: "a/b" });
  const id = "4bf92f3577b34da6a3ce929d0e0e4736";
  const detailsWith = (traceparent: string) => network.add("c1", { traceparent }).error?.details;

  t.equal(detailsWith(`00-${id}-00f067aa0ba902b7-01`), `a/b; trace ${id}`);
  t.equal(detailsWith("garbage"), "a/b");
});

test("an error that cannot be printed goes to standard error, with the time", async (t) => {
  t.match(run({ CNI_COMMAND: "STATUS" }, refuse("writeStandardOutput", "EPIPE")), {
    exitCode: 1,
    stderr:
      /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d Error writing error JSON to stdout: write \/dev\/stdout: broken pipe\n$/,
  });
});

test("a defect is reported as an error object, too", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);

  const { error } = network.add("c1", {
    interrupt: ({ operation }) => {
      if (operation === "link") throw new TypeError("a defect");
      return undefined;
    },
  });

  t.equal(error?.code, 999);
  t.match(error?.msg, "a defect");
  t.same(network.reservations(), {});
});
