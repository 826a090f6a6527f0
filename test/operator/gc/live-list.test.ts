import { test } from "tap";
import { CommandError } from "../../../src/cli/command/command.ts";
import { joined, mayHave, parseLiveList } from "../../../src/operator/gc/live-list.ts";

test("ids stand one a line; white space and empty lines do not matter", async (t) => {
  const list = parseLiveList("\n c1 \r\nc2\n\n", "x");

  t.equal(list.size, 2);
  t.ok(list.has("c1"));
  t.ok(list.has("c2"));
  t.notOk(list.has("c"));
  t.notOk(list.has(""));
  t.equal(parseLiveList(" \n\t\n", "x").size, 0);
});

test("a shortened id keeps the whole one, from twelve hexadecimal digits on", async (t) => {
  const whole = "0123456789abcdef";

  t.ok(parseLiveList(whole.slice(0, 12), "x").has(whole));
  t.notOk(parseLiveList(whole.slice(0, 11), "x").has(whole));
  t.notOk(parseLiveList("0123456789ag", "x").has("0123456789agcd"));
  t.notOk(parseLiveList(whole, "x").has(whole.slice(0, 12)), "not the other way round");
});

for (const line of ["POD ID   CREATED", "error: cannot connect", "../c1", "-c1", "c1 eth0"]) {
  test(`${line} is not an id`, async (t) => {
    t.throws(() => parseLiveList(`c1\n${line}\n`, "the list"), {
      constructor: CommandError,
      message: /^the list: line 2 is not a container id/,
    });
  });
}

test("a list may have the ids that runtimes make, and any in a namespace of which it has others", async (t) => {
  const hex = "a".repeat(64);
  const list = joined([parseLiveList(hex, "x"), parseLiveList("default-web", "x")]);

  for (const id of [hex, `k8s.io-${hex}`, "default-job"]) t.ok(mayHave(list, id), id);
  for (const id of ["cilium-ingress-n1", "claim", "cnitool-77383ca0b3715733ca6f", "-x"]) {
    t.notOk(mayHave(list, id), id);
  }
});
