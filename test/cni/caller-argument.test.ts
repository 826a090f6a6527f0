import { test } from "tap";
import { callerArgument } from "../../src/cni/caller-argument.ts";
import type { JsonObject } from "../../src/cni/json.ts";

const annotations = "io.kubernetes.cri.pod-annotations";

function argument(name: string, args: string, document: JsonObject): string {
  return callerArgument(name, args, { value: document, path: "" });
}

test("an argument is from CNI_ARGS, args.cni, runtimeConfig or annotations, in this order", async (t) => {
  const told = { [annotations]: { VM: "annotation" } };
  const runtimeConfig = { ...told, VM: "capability" };
  const document = { runtimeConfig, args: { cni: { VM: "cni" } } };
  t.equal(argument("VM", "OTHER=x", {}), "");
  t.equal(argument("VM", "OTHER=x", { runtimeConfig: told }), "annotation");
  t.equal(argument("VM", "OTHER=x", { runtimeConfig }), "capability");
  t.equal(argument("VM", "OTHER=x", document), "cni");
  t.equal(argument("VM", "OTHER=x;VM=argument", document), "argument");
});

test("keys are found in any letter case, but for those of annotations", async (t) => {
  t.equal(argument("vm", "", { Args: { CNI: { VM: "db" } } }), "db");
  t.equal(argument("vm", "", { RuntimeConfig: { Vm: "db" } }), "db");
  t.equal(argument("vm", "", { runtimeConfig: { [annotations]: { VM: "db" } } }), "");
});

test("what is no text tells nothing, and so does what every object has", async (t) => {
  for (const value of [null, 7, true, [], {}]) {
    t.equal(argument("VM", "", { args: { cni: { VM: value } } }), "");
    t.equal(argument("VM", "", { runtimeConfig: { VM: value } }), "");
    t.equal(argument("VM", "", { runtimeConfig: { [annotations]: { VM: value } } }), "");
    t.equal(argument("VM", "", { runtimeConfig: { [annotations]: value } }), "");
  }
  t.equal(argument("toString", "", { runtimeConfig: { [annotations]: {} } }), "");
});
