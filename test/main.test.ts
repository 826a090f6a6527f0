import { test } from "tap";
import { main } from "../src/main.ts";
import { refuse } from "./harness/interruption.ts";
import { MemoryMachine, type Outcome } from "./harness/memory-machine.ts";
import { Network } from "./harness/network.ts";

const subnet = { subnet: "10.0.0.0/29" };

function run(environment: Readonly<Record<string, string>>, stdin = ""): Outcome {
  return new MemoryMachine().run({ environment, stdin }, main);
}

test("a failure is one error object on standard output, and exit code 1", (t) => {
  const { exitCode, stdout, stderr } = run({ CNI_COMMAND: "STATUS" });

  t.equal(exitCode, 1);
  t.equal(stderr, "");
  t.equal(
    stdout,
    `{
    "code": 4,
    "msg": "required env variables [CNI_PATH] missing"
}`,
  );
  t.end();
});

test("a failed system call is reported with its message and code 999", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);

  t.same(network.add("c1", { interrupt: refuse("makeDirectories", "EACCES") }).error, {
    code: 999,
    msg: "mkdir /var/lib/cni/networks/net: permission denied",
  });
});

const traces = ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"] as const;
const [first, second] = traces.map((id) => `00-${id}-00f067aa0ba902b7-01`);

test("the details of an error end with the trace of the call", async (t) => {
  const network = new Network(new MemoryMachine(), subnet, { name: "a/b" });

  t.equal(network.add("c1", { traceparent: first }).error?.details, `a/b; trace ${traces[0]}`);
});

test("an error without details has the trace alone, and none where there is no valid one", async (t) => {
  const network = new Network(new MemoryMachine(), subnet);
  const refusal = { interrupt: refuse("makeDirectories", "EACCES") };
  const plain = network.add("c1", refusal);

  t.equal(
    network.add("c1", { ...refusal, traceparent: first }).error?.details,
    `trace ${traces[0]}`,
  );
  for (const traceparent of ["garbage", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`]) {
    t.equal(network.add("c1", { ...refusal, traceparent }).stdout, plain.stdout);
  }
});

test("a call that gives up on the lock names the process that holds it, and then its own trace", async (t) => {
  const network = new Network(new MemoryMachine(), { ...subnet, lockTimeoutSeconds: 3 });
  let details: string | undefined;

  network.add("c1", {
    traceparent: first,
    processId: 7,
    interrupt: ({ operation }) => {
      if (operation !== "link" || details !== undefined) return undefined;
      details = network.add("c2", { traceparent: second }).error?.details;
      return undefined;
    },
  });

  t.match(details, "is held by process 7; nothing was changed");
  t.ok(details?.endsWith(`; trace ${traces[1]}`));
});

test("an error that cannot be printed goes to standard error, with the time", async (t) => {
  const outcome = new MemoryMachine().run(
    {
      environment: { CNI_COMMAND: "STATUS" },
      interrupt: refuse("writeStandardOutput", "EPIPE"),
    },
    main,
  );

  t.equal(outcome.exitCode, 1);
  t.match(
    outcome.stderr,
    /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d Error writing error JSON to stdout: write \/dev\/stdout: broken pipe\n$/,
  );
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
