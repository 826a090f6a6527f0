// test: cluster, sees the node, makes namespaces, mounts
/** Rollouts while programs of the node are killed, with all keys that are about who gets an address again. */

import { readExample } from "../e2e/example.ts";
import { nodeNamespaces } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { clusterScenario } from "./cluster-scenario.ts";
import { create, kubectl } from "./kubectl.ts";
import { printedBy } from "./operator.ts";
import { deletePods, listPods, podNamed } from "./pods.ts";

/** How long a rollout may take, in seconds. */
const PATIENCE = 900;

/** `reuseDelaySeconds` of the network. */
const DELAY = 30;

const template = readExample("containerd.conflist.template").replace(
  '"ranges"',
  `"sticky": "pod", "reuseDelaySeconds": ${DELAY}, "history": true,\n        "ranges"`,
);

const workloads = ["deployment/web", "statefulset/db"];

/** An address that was seen in use. */
interface Observation {
  readonly address: string;
  /** The pod in the API; undefined if the address was seen in a network namespace. */
  readonly pod?: string;
  /** The beginning and the end of the look, in milliseconds since the epoch. */
  readonly began: number;
  readonly ended: number;
}

/** An event of `host-local history --json`. */
interface HistoryEvent {
  readonly verb: string;
  readonly address: string;
  readonly pod: string;
  readonly time: string;
}

/** The time from an ADD to the next event of its address. */
interface Holding {
  readonly address: string;
  readonly pod: string;
  readonly from: string;
  readonly until: string | null;
}

clusterScenario(
  {
    title:
      "Rollouts with sticky, reuseDelaySeconds and history while kubelet and containerd are killed",
    cluster: { clusterCidr: "10.251.0.0/24", nodeCidrMaskSize: 26, template },
  },
  async (t, cluster) => {
    const { worker } = cluster;
    const observations: Observation[] = [];
    const twice = new Set<string>();
    /** Records the addresses of pods in the API, and those in all network namespaces. */
    const look = () => {
      const began = Date.now();
      const pods = listPods().flatMap(({ name, address, isEnding }) =>
        address === undefined || isEnding ? [] : [{ pod: `default/${name}`, address }],
      );
      const inNamespaces = nodeNamespaces().flatMap(({ addresses }) =>
        addresses.map((address) => ({ address })),
      );
      for (const seen of [pods, inNamespaces]) {
        const times = { began, ended: Date.now() };
        observations.push(...seen.map((sight) => ({ ...sight, ...times })));
        for (const [address, those] of Map.groupBy(seen, (sight) => sight.address)) {
          if (those.length > 1) twice.add(address);
        }
      }
    };

    create([workload("Deployment", "web", 6), workload("StatefulSet", "db", 4)]);
    await rolledOut();
    const sticky = addressesOf("db-");
    t.equal(Object.keys(sticky).length, 4, "the StatefulSet runs");
    for (const round of [1, 2, 3]) {
      kubectl("rollout", "restart", ...workloads);
      // A kubelet that starts while containerd is down ends at once, and no systemd restarts it here.
      await someEnding();
      worker.containerd.kill();
      await worker.startContainerd();
      await someEnding();
      worker.kubelet.kill();
      await worker.startKubelet();
      await rolledOut();
      t.same(
        addressesOf("db-"),
        sticky,
        `rollout ${round}: the pods of the StatefulSet keep theirs`,
      );
    }
    t.same([...twice], [], "no address was seen twice, in the API or in the kernel");

    const holdings = historyOf(observations.map(({ address }) => address));
    const missing = observations.filter(
      (seen) => !holdings.some((holding) => tells(holding, seen)),
    );
    t.same(missing, [], "every observation is in the history");
    t.same(tooEarly(holdings), [], "no other pod gets an address before its time");

    kubectl("delete", ...workloads);
    deletePods();
    t.same(cluster.reservations(), {}, "nothing stays reserved");

    /** Waits for the middle of a rollout, and looks meanwhile. */
    async function someEnding(): Promise<void> {
      await until("some new pods", () => {
        look();
        return listPods().some(({ isEnding }) => isEnding);
      });
    }

    /** Waits for the end of the rollouts, and looks meanwhile. */
    async function rolledOut(): Promise<void> {
      await until(
        "the rollouts",
        () => {
          look();
          return workloads.every((name) => {
            const status = kubectl("rollout", "status", "--watch=false", name);
            return /successfully rolled out|roll out complete|rolling update complete/.test(status);
          });
        },
        PATIENCE,
      );
    }
  },
);

/** The addresses of the pods whose names begin with `start`. */
function addressesOf(start: string): Readonly<Record<string, string | undefined>> {
  const pods = listPods().filter(({ name, isEnding }) => name.startsWith(start) && !isEnding);
  return Object.fromEntries(pods.map(({ name, address }) => [name, address]));
}

function workload(kind: "Deployment" | "StatefulSet", name: string, replicas: number): object {
  const labels = { app: name };
  const { spec } = podNamed(name);
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name },
    spec: {
      replicas,
      ...(kind === "StatefulSet" ? { serviceName: name, podManagementPolicy: "Parallel" } : {}),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec },
    },
  };
}

/** The holdings of addresses in the history. */
function historyOf(addresses: readonly string[]): readonly Holding[] {
  return [...new Set(addresses)].flatMap((address) => {
    const { events }: { readonly events: readonly HistoryEvent[] } = JSON.parse(
      printedBy(`host-local history ${address} --json`),
    );
    return events.flatMap(({ verb, pod, time }, at) => {
      const until = events[at + 1]?.time ?? null;
      return verb === "ADD" ? [{ address, pod, from: time, until }] : [];
    });
  });
}

/** Whether a holding agrees with an observation. A DEL releases the address some time before the namespace ends. */
function tells({ address, pod, from, until }: Holding, seen: Observation): boolean {
  const end = until === null ? Number.POSITIVE_INFINITY : Date.parse(until);
  const rest = seen.pod === undefined ? DELAY * 1000 : 0;
  return (
    address === seen.address &&
    pod === (seen.pod ?? pod) &&
    Date.parse(from) <= seen.ended &&
    end + rest >= seen.began
  );
}

/** The addresses that another pod got too early. */
function tooEarly(holdings: readonly Holding[]): readonly string[] {
  return holdings.flatMap((holding) => {
    const next = holdings.find(
      ({ address, from }) => address === holding.address && from > holding.from,
    );
    if (next === undefined || next.pod === holding.pod) return [];
    const pause = Date.parse(next.from) - Date.parse(holding.until ?? "");
    return pause >= DELAY * 1000 ? [] : [`${holding.address}: ${holding.pod}, ${next.pod}`];
  });
}
