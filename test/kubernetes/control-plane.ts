/** etcd, the API server, the controller manager with its node IPAM controller, and the scheduler. */

import { until } from "../harness/until.ts";
import { credentialFiles, kubeconfigOf, nodeAddress } from "./credentials.ts";
import { kubectl, waitFor } from "./kubectl.ts";
import { program } from "./programs.ts";
import { Unit } from "./unit.ts";

/** The addresses of a cluster. */
export interface ClusterAddresses {
  /** `--cluster-cidr`, such as `10.244.0.0/16`. */
  readonly clusterCidr: string;
  /** `--node-cidr-mask-size`: the prefix length of a podCIDR. */
  readonly nodeCidrMaskSize: number;
  /** Both options for the second family of a dual-stack cluster, such as `fd00:244::/56`. */
  readonly ipv6?: { readonly clusterCidr: string; readonly nodeCidrMaskSize: number };
}

/** The settings of the controller manager. */
export interface ControllerSettings extends ClusterAddresses {
  /** `--allocate-node-cidrs`; true by default. */
  readonly givesPodCidrs?: boolean;
}

const etcdAddress = "http://127.0.0.1:2379";
const etcdPeerAddress = "http://127.0.0.1:2380";

/** The control plane of a cluster. */
export class ControlPlane {
  readonly etcd = new Unit("etcd", [
    program("etcd"),
    "--data-dir=/run/etcd",
    `--listen-client-urls=${etcdAddress}`,
    `--advertise-client-urls=${etcdAddress}`,
    `--listen-peer-urls=${etcdPeerAddress}`,
    `--initial-advertise-peer-urls=${etcdPeerAddress}`,
    `--initial-cluster=default=${etcdPeerAddress}`,
    "--heartbeat-interval=500",
    "--election-timeout=5000",
    "--log-level=warn",
  ]);

  readonly apiServer: Unit;

  readonly controllerManager: Unit;

  readonly scheduler = new Unit("kube-scheduler", [
    program("kube-scheduler"),
    `--kubeconfig=${kubeconfigOf("system:kube-scheduler")}`,
    "--leader-elect=false",
  ]);

  /** @param settings the addresses that the node IPAM controller gives to nodes */
  constructor(settings: ControllerSettings) {
    this.apiServer = apiServerFor(settings);
    this.controllerManager = controllerManagerWith(settings);
  }

  /** All its programs. */
  get units(): readonly Unit[] {
    return [this.etcd, this.apiServer, this.controllerManager, this.scheduler];
  }

  /** Starts it, and waits until pods can be created. */
  async start(): Promise<void> {
    this.etcd.start();
    this.apiServer.start();
    await until("the API server", () => kubectl("get", "--raw=/readyz") === "ok");
    this.controllerManager.start();
    this.scheduler.start();
    waitFor("create", "serviceaccount/default");
  }

  /**
   * Starts the controller manager again.
   *
   * @param settings the addresses that it gives to nodes from now on
   */
  restartController(settings: ControllerSettings): void {
    this.controllerManager.stop();
    controllerManagerWith(settings).start();
  }
}

function apiServerFor({ ipv6 }: ClusterAddresses): Unit {
  const services = ["10.96.0.0/16", ...(ipv6 === undefined ? [] : ["fd00:96::/112"])];
  return new Unit("kube-apiserver", [
    program("kube-apiserver"),
    `--etcd-servers=${etcdAddress}`,
    `--advertise-address=${nodeAddress}`,
    `--service-cluster-ip-range=${services.join(",")}`,
    `--cert-dir=${credentialFiles.certificates}`,
    `--token-auth-file=${credentialFiles.tokens}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${credentialFiles.publicKey}`,
    `--service-account-signing-key-file=${credentialFiles.privateKey}`,
    "--authorization-mode=Node,RBAC",
    "--enable-admission-plugins=NodeRestriction",
    "--allow-privileged=true",
    // The API server would ask DNS for the node by its name.
    "--kubelet-preferred-address-types=InternalIP",
  ]);
}

function controllerManagerWith(settings: ControllerSettings): Unit {
  const { clusterCidr, nodeCidrMaskSize, ipv6, givesPodCidrs = true } = settings;
  const addresses =
    ipv6 === undefined
      ? [`--cluster-cidr=${clusterCidr}`, `--node-cidr-mask-size=${nodeCidrMaskSize}`]
      : [
          `--cluster-cidr=${clusterCidr},${ipv6.clusterCidr}`,
          `--node-cidr-mask-size-ipv4=${nodeCidrMaskSize}`,
          `--node-cidr-mask-size-ipv6=${ipv6.nodeCidrMaskSize}`,
        ];
  return new Unit("kube-controller-manager", [
    program("kube-controller-manager"),
    `--kubeconfig=${kubeconfigOf("system:kube-controller-manager")}`,
    `--allocate-node-cidrs=${givesPodCidrs}`,
    ...addresses,
    `--service-account-private-key-file=${credentialFiles.privateKey}`,
    // The controller may not patch nodes as its own user.
    "--use-service-account-credentials=true",
    "--leader-elect=false",
    // A node whose kubelet is stopped for a while keeps its pods.
    "--node-monitor-grace-period=200s",
    "--v=2",
  ]);
}
