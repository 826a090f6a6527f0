/** A node's addresses for dynamic resource allocation. */

import { UsageError } from "../../cli/command/command.ts";
import type { ExtendedResource } from "./extended-resource.ts";

/** The name of a node: a DNS subdomain. */
const NODE = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$/;

/**
 * A ResourceSlice (resource.k8s.io/v1) with one device that many pods share: each consumes one of its addresses (KEP 5075).
 * Nothing has to be prepared on the node, so no driver has to run there (KEP 5945). It selects the node instead of naming
 * it, since kubelet deletes the slices that name its node when it starts.
 *
 * @param resource `example.com/pod-ips` makes the driver `pod-ips.example.com`
 * @throws UsageError unless the node's and the driver's names are valid
 */
export function resourceSlice({ domain, name }: ExtendedResource, node: string, count: bigint) {
  const label = name.toLowerCase();
  const driver = `${label}.${domain}`;
  if (!NODE.test(node)) {
    throw new UsageError(`--resource-slice: expected the name of a node, found ${node}`);
  }
  if (!/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(label) || driver.length > 63) {
    throw new UsageError(
      `--resource: expected letters, digits and -, and at most 62 characters, for the name of a DRA driver; found ${domain}/${name}`,
    );
  }
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: `${node}-${driver}`.slice(0, 253) },
    spec: {
      driver,
      pool: { name: node, generation: 1, resourceSliceCount: 1 },
      nodeSelector: { nodeSelectorTerms: [{ matchFields }] },
      skipNodeOperations: true,
      devices: [
        {
          name: label,
          allowMultipleAllocations: true,
          capacity: {
            [label]: { value: `${count}`, requestPolicy: { default: "1", validValues: ["1"] } },
          },
        },
      ],
    },
  };
}
