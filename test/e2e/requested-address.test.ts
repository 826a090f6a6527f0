// test: each executable, one if short
/** A requested address on its three ways from the runtime through the `bridge` plugin. */

import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["bridge"], cniVersion: "1.0.0" };

scenario("a requested address reaches the pod on each of the three ways", needs, (t, host) => {
  const ways = [
    {
      file: "requested-by-runtime-config.conflist",
      capabilities: { ips: ["10.27.0.50", "fd00:10:27::50"] },
      addresses: ["10.27.0.50/24", "fd00:10:27::50/64"],
      asked: { stdin: '"runtimeConfig":{"ips":["10.27.0.50","fd00:10:27::50"]}' },
    },
    {
      file: "requested-by-args.conflist",
      addresses: ["10.28.0.50/24"],
      asked: { stdin: '"args":{"cni":{"ips":["10.28.0.50"]}}' },
    },
    {
      file: "requested-by-cni-args.conflist",
      cniArgs: "IgnoreUnknown=1;IP=10.29.0.50",
      addresses: ["10.29.0.50/24"],
      asked: { environment: { CNI_ARGS: "IgnoreUnknown=1;IP=10.29.0.50" } },
    },
  ];
  for (const { file, capabilities = {}, cniArgs = "", addresses, asked } of ways) {
    const network = loadExample(file);
    const pod = new Pod(network.name);

    host.runtime.add(network, { ...pod, cniArgs }, capabilities);

    t.same(pod.addresses(), addresses, `${file} gives the requested address`);
    t.match(host.recordedCalls().at(-1), asked, "the request came this way");
  }
});
