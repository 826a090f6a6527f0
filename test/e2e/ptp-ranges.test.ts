// test: each executable, one if short
/** Several ranges with the `ptp` plugin, which has a gateway for each of them. */

import { loadExample } from "./example.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = { plugins: ["ptp"], cniVersion: "1.0.0" };

scenario("ptp: pods from both ranges of a set reach each other", needs, (t, host) => {
  const network = loadExample("ranges-in-one-set.conflist");
  const pods = [new Pod("pod-1"), new Pod("pod-2"), new Pod("pod-3")];

  for (const pod of pods) host.runtime.add(network, pod);

  const addresses = pods.flatMap((pod) => pod.addresses());
  t.same(addresses, ["10.24.0.10/24", "10.24.0.11/24", "10.24.1.2/24"]);
  t.ok(pods[0]?.reaches("10.24.1.2"), "a pod of the first range reaches one of the second");
});

scenario("ptp: a pod reaches its gateway in every set", needs, (t, host) => {
  const network = loadExample("ranges-in-several-sets.conflist");
  const pod = new Pod("pod-1");

  host.runtime.add(network, pod);

  t.same(pod.addresses(), ["10.25.0.2/24", "10.25.1.1/24", "fd00:10:25::100/64"]);
  for (const gateway of ["10.25.0.1", "10.25.1.254", "fd00:10:25::1"]) {
    t.ok(pod.reaches(gateway), `the pod reaches ${gateway}`);
  }
});
