// test: cluster, sees the node, makes namespaces, mounts
/** More pods than addresses. */

import { readFileSync } from "node:fs";
import { pluginInput, readNetwork } from "../e2e/libcni.ts";
import { run } from "../harness/executable.ts";
import { readError } from "../harness/printed-error.ts";
import { attachmentCall } from "../harness/runtime-call.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, eventsOf, waitFor } from "./kubectl.ts";
import { shell } from "./operator.ts";
import { deletePods, ownAddresses, podAddresses, podNamed, runPods } from "./pods.ts";
import { generatedConfiguration } from "./worker.ts";

const REASON = "FailedCreatePodSandBox";

clusterScenario(
  {
    title: "A /29 holds five pods",
    cluster: { clusterCidr: "10.245.0.0/24", nodeCidrMaskSize: 29 },
  },
  async (t, cluster) => {
    runPods("first", "second", "third", "fourth", "fifth");
    const addresses = ["10.245.0.2", "10.245.0.3", "10.245.0.4", "10.245.0.5", "10.245.0.6"];
    t.same(ownAddresses(), addresses, "five pods get the five addresses");

    create([podNamed("sixth")]);
    await until("the event", () => eventsOf("sixth", REASON).length > 0);
    const message = eventsOf("sixth", REASON)[0] ?? "";
    t.equal(
      withoutId(message),
      refusal(cluster.host.pluginDirectory),
      "the event has our words, all of them",
    );
    t.match(shell("kubectl describe pod sixth"), withoutPrefix(message), "and describe shows it");

    const { third } = podAddresses();
    deletePods("third");
    waitFor("condition=Ready", "pod/sixth");
    t.equal(podAddresses().sixth, third, "the end of a pod lets the waiting one run");

    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");
  },
);

/** The plugin's refusal of a pod, called directly, in the words of containerd and kubelet. */
function refusal(pluginDirectory: string): string {
  const network = readNetwork(readFileSync(generatedConfiguration, "utf8"));
  const [plugin = { type: "" }] = network.plugins;
  const cniArgs = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=direct";
  const attachment = { containerId: "direct", cniArgs };
  const call = attachmentCall("ADD", attachment, pluginInput(network, plugin));
  const { stdout } = run(`${pluginDirectory}/host-local`, call);
  const { msg, details } = readError(stdout) ?? {};
  return [
    "Failed to create pod sandbox: rpc error: code = Unknown desc = ",
    `failed to setup network for sandbox "…": plugin type="${plugin.type}" failed (add): `,
    `${msg}; ${details}`,
  ].join("");
}

function withoutId(message: string): string {
  return message.replace(/sandbox "[0-9a-f]{64}"/, 'sandbox "…"');
}

function withoutPrefix(message: string): string {
  return message.slice(message.indexOf("failed (add)"));
}
