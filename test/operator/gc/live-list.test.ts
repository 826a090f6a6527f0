import { test } from "tap";
import { CommandError } from "../../../src/cli/command/command.ts";
import { parseLiveLists } from "../../../src/operator/gc/live-list.ts";

const parse = (...texts: readonly string[]) =>
  parseLiveLists(...texts.map((text) => ({ source: "the list", text })));

test("ids stand one a line; white space and empty lines do not matter", async (t) => {
  const list = parse("\n c1 \r\nc2\n\n");

  t.equal(list.size, 2);
  t.ok(list.has("c1"));
  t.ok(list.has("c2"));
  t.notOk(list.has("c"));
  t.notOk(list.has(""));
  t.equal(parse(" \n\t\n").size, 0);
});

test("a shortened id keeps the whole one, from twelve hexadecimal digits on", async (t) => {
  const whole = "0123456789abcdef";

  t.ok(parse(whole.slice(0, 12)).has(whole));
  t.notOk(parse(whole.slice(0, 11)).has(whole));
  t.notOk(parse("0123456789ag").has("0123456789agcd"));
  t.notOk(parse(whole).has(whole.slice(0, 12)), "not the other way round");
});

test("../c1 is not an id", async (t) => {
  t.throws(() => parse("c1\n../c1\n"), {
    constructor: CommandError,
    message: /^the list: line 2 is not a container id/,
  });
});

test("a list may have the ids that runtimes make, and any in a namespace of which it has others", async (t) => {
  const hex = "a".repeat(64);
  const list = parse(hex, "default-web");

  for (const id of [hex, `k8s.io-${hex}`, "default-job"]) t.ok(list.mayHave(id), id);
  for (const id of ["cilium-ingress-n1", "claim", "cnitool-77383ca0b3715733ca6f", "-x"]) {
    t.notOk(list.mayHave(id), id);
  }
});
