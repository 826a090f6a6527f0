import { test } from "tap";
import { callerArgument } from "../../src/cni/caller-argument.ts";
import type { JsonObject } from "../../src/cni/json.ts";

const annotations = "io.kubernetes.cri.pod-annotations";

function argument(name: string, args: string, document: JsonObject): string {
  return callerArgument(name, args, { value: document, path: "" });
}

const annotated = { [annotations]: { VM: "annotation" } };
const capable = { runtimeConfig: { ...annotated, VM: "capability" } };
const argued = { ...capable, args: { cni: { VM: "cni" } } };

for (const [place, args, document, value] of [
  ["nowhere", "OTHER=x", {}, ""],
  ["annotations", "OTHER=x", { runtimeConfig: annotated }, "annotation"],
  ["runtimeConfig, before annotations", "OTHER=x", capable, "capability"],
  ["args.cni, before runtimeConfig", "OTHER=x", argued, "cni"],
  ["CNI_ARGS, before args.cni", "OTHER=x;VM=argument", argued, "argument"],
] as const) {
  test(`an argument is from ${place}`, async (t) => {
    t.equal(argument("VM", args, document), value);
  });
}

for (const [place, document, value] of [
  ["args.cni", { Args: { CNI: { VM: "db" } } }, "db"],
  ["runtimeConfig", { RuntimeConfig: { Vm: "db" } }, "db"],
  [
    "annotations, where it must be the same",
    { runtimeConfig: { [annotations]: { VM: "db" } } },
    "",
  ],
] as const) {
  test(`a key in another letter case, in ${place}`, async (t) => {
    t.equal(argument("vm", "", document), value);
  });
}

test("what is no text tells nothing, and so does what every object has", async (t) => {
  for (const value of [null, 7, true, [], {}]) {
    t.equal(argument("VM", "", { args: { cni: { VM: value } } }), "");
    t.equal(argument("VM", "", { runtimeConfig: { VM: value } }), "");
    t.equal(argument("VM", "", { runtimeConfig: { [annotations]: { VM: value } } }), "");
    t.equal(argument("VM", "", { runtimeConfig: { [annotations]: value } }), "");
  }
  t.equal(argument("toString", "", { runtimeConfig: { [annotations]: {} } }), "");
});
