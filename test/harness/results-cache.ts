/** Entries of libcni's cache, as libcni writes them. */

/** The differences between entries. */
export interface CacheEntry {
  readonly interfaceName?: string;
  /** The path of the network namespace; left out by default, as libcni before 1.3 does. */
  readonly netns?: string;
  /** The addresses of the result, with prefix lengths. */
  readonly addresses?: readonly string[];
  /** The gateway of each address. */
  readonly gateway?: string;
  /** The interfaces of the result on the node, such as the bridge and its port. */
  readonly hostInterfaces?: readonly string[];
  /**
   * The pod: `namespace/name`, as Kubernetes gives it in CNI_ARGS, or the name alone, as podman does; empty if the runtime set
   * none.
   */
  readonly pod?: string;
  /** CNI_ARGS in place of a pod's. */
  readonly cniArgs?: readonly (readonly [string, string])[];
  /** The configuration of the network; by default an empty object. */
  readonly configuration?: object;
}

/** The name and the text of an entry's file. */
export function cacheEntry(
  network: string,
  containerId: string,
  {
    interfaceName = "eth0",
    netns,
    addresses,
    gateway,
    hostInterfaces = [],
    pod = "",
    cniArgs = pod === "" ? [] : podArguments(pod, containerId),
    configuration = {},
  }: CacheEntry = {},
): { readonly name: string; readonly text: string } {
  const entry = {
    kind: "cniCacheV1",
    containerId,
    config: Buffer.from(JSON.stringify(configuration)).toString("base64"),
    ifName: interfaceName,
    networkName: network,
    ...(netns === undefined ? {} : { netns }),
    cniArgs,
    ...(addresses === undefined
      ? {}
      : {
          result: {
            cniVersion: "1.0.0",
            interfaces: [
              ...hostInterfaces.map((name) => ({ name })),
              { name: interfaceName, sandbox: netns ?? "/run/netns/unknown" },
            ],
            ips: addresses.map((address) => ({ address, gateway })),
          },
        }),
  };
  return { name: `${network}-${containerId}-${interfaceName}`, text: JSON.stringify(entry) };
}

/** CNI_ARGS of Kubernetes, or of podman. */
function podArguments(pod: string, containerId: string): readonly (readonly [string, string])[] {
  if (!pod.includes("/")) return [["K8S_POD_NAME", pod]];
  const [namespace = "", name = ""] = pod.split("/");
  return [
    ["IgnoreUnknown", "1"],
    ["K8S_POD_NAMESPACE", namespace],
    ["K8S_POD_NAME", name],
    ["K8S_POD_INFRA_CONTAINER_ID", containerId],
  ];
}
