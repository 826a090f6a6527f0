// test: own process, slow
/** The manifests in deploy/: valid, confined, and with the paths of each distribution. */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Test, test } from "tap";
import { parse, parseAllDocuments } from "yaml";
import { parseCommandLine } from "../../src/cli/command/command-line.ts";
import { findCommand } from "../../src/cli/manual/help.ts";
import { commands } from "../../src/commands.ts";
import { tasksOf } from "../../src/operator/agent/task.ts";
import { resourceOption } from "../../src/operator/capacity/extended-resource.ts";
import { knownPluginDirectories } from "../../src/operator/node/plugin-directories.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { kubectl, skipWithoutKubectl } from "../harness/kubectl.ts";
import { inRepository } from "../harness/repository.ts";
import { type Manifest, violations } from "./schema.ts";

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly resources: Readonly<Record<string, unknown>>;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
    readonly mountPropagation?: string;
  }[];
}

interface DaemonSet extends Manifest {
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: {
        readonly initContainers: readonly Container[];
        readonly containers: readonly Container[];
        readonly volumes: readonly {
          readonly name: string;
          readonly hostPath: { readonly path: string; readonly type?: string };
        }[];
      } & Readonly<Record<string, unknown>>;
    };
  };
}

/** The objects of a file with several documents. */
function objectsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** What `kubectl apply --kustomize` would apply. */
function build(directory: string): readonly Manifest[] {
  const { status, stdout, stderr } = spawnSync(kubectl, ["kustomize", directory], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

function daemonSetIn(objects: readonly Manifest[]): DaemonSet {
  const [found] = objects.filter(({ kind }) => kind === "DaemonSet");
  if (found === undefined) throw new Error("no DaemonSet");
  return found as DaemonSet;
}

const base = daemonSetIn(
  objectsIn(readFileSync(inRepository("deploy/base/daemonset.yaml"), "utf8")),
);

/** What is applied in these tests: the last one compares all of it with the schemas at once, which takes a compiler. */
const applied: Manifest[] = [base];

test("a misspelt member or a wrong type would be found", async (t) => {
  const { spec } = base.spec.template;
  const withSpec = (change: object): Manifest =>
    ({
      ...base,
      spec: { ...base.spec, template: { ...base.spec.template, spec: { ...spec, ...change } } },
    }) as Manifest;

  t.match(violations(withSpec({ hostPid: true })), [/hostPid/]);
  t.match(violations(withSpec({ hostPID: "yes" })), [
    /hostPID must be boolean/,
    /Type 'string' is not/,
  ]);
});

test("it runs everywhere, first, without access to the API and without privileges", async (t) => {
  const { spec } = base.spec.template;

  t.match(spec, {
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    automountServiceAccountToken: false,
    hostNetwork: true,
  });
  for (const { securityContext, volumeMounts } of [...spec.initContainers, ...spec.containers]) {
    t.match(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      privileged: undefined,
      capabilities: { drop: ["ALL"] },
    });
    const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true);
    t.same(
      writable.map(({ name }) => name).filter((name) => !["plugins", "data"].includes(name)),
      [],
    );
  }
});

test("its capabilities are those of the systemd unit for gc, except that to enter namespaces", async (t) => {
  const unit = readFileSync(inRepository("conf-examples/operator/host-local-gc.service"), "utf8");
  const [, names = ""] = /^CapabilityBoundingSet=(.*)$/m.exec(unit) ?? [];
  const [agent] = base.spec.template.spec.containers;

  t.match(agent?.securityContext, {
    capabilities: { add: names.replaceAll("CAP_", "").replace(" SYS_ADMIN", "").split(" ") },
  });
  t.match(names, / CAP_SYS_ADMIN$/);
});

test("the container that installs may write the directory of another user, as the agent may", async (t) => {
  const [container] = base.spec.template.spec.initContainers;

  t.match(container?.securityContext, { capabilities: { add: ["DAC_OVERRIDE"] } });
});

test("it is ready within a second of the first run of its tasks, and not restarted while they fail", async (t) => {
  const [agent] = base.spec.template.spec.containers;
  t.match(agent, {
    startupProbe: { httpGet: { path: "/healthz" }, periodSeconds: 1, failureThreshold: 3600 },
    readinessProbe: { httpGet: { path: "/healthz" } },
    livenessProbe: undefined,
  });
});

test("SELinux lets it write the paths of the node", async (t) => {
  t.match(base.spec.template.spec, { securityContext: { seLinuxOptions: { type: "spc_t" } } });
});

/** The tasks of the agent; throws UsageError unless they are commands with their options. */
function tasksIn(daemonSet: DaemonSet): readonly string[] {
  const [name = "", ...words] = daemonSet.spec.template.spec.containers[0]?.args ?? [];
  const given = parseCommandLine(findCommand(commands, name), words);
  return tasksOf(given, commands).map((task) => task.words.join(" "));
}

test("the commands are there, with the options that are given", async (t) => {
  const [install] = base.spec.template.spec.initContainers;
  const [name = "", ...words] = install?.args ?? [];

  t.equal(name, "install");
  t.ok(parseCommandLine(findCommand(commands, name), words).has("--yes"));
  t.same(tasksIn(base), [
    "install /host/opt/cni/bin --if-replaced --yes",
    "metrics",
    "gc --yes --log",
  ]);
  t.match(base.spec.template.spec.volumes, [{ name: "plugins" }]);
});

/** As in Kubernetes before 1.30, and without gc. */
const withoutAppArmor = {
  seLinuxOptions: { type: "spc_t" },
  seccompProfile: { type: "RuntimeDefault" },
};

const distributions = readdirSync(inRepository("deploy/overlays")).filter(
  (name) => name !== "uninstall",
);

test("there is an overlay for each of the distributions", async (t) => {
  t.same(distributions.sort(), ["flatcar", "k3s", "kubeadm", "microk8s", "rhcos", "rke2"]);
});

for (const name of distributions) {
  test(`${name}: its paths belong together`, { skip: skipWithoutKubectl }, async (t) => {
    const objects = build(inRepository(`deploy/overlays/${name}`));
    const { volumes, containers } = daemonSetIn(objects).spec.template.spec;
    const pathOf = (volume: string): string | undefined =>
      volumes.find((one) => one.name === volume)?.hostPath.path;
    const typeOf = (volume: string): string | undefined =>
      volumes.find((one) => one.name === volume)?.hostPath.type;

    applied.push(...objects);
    for (const object of objects) {
      t.match(object, { metadata: { namespace: "kube-system" } }, object.kind);
    }
    const known = knownPluginDirectories.find(({ directory }) => directory === pathOf("plugins"));
    t.equal(pathOf("configurations"), known?.configurations);
    // A wrong path fails instead of being created.
    for (const volume of ["plugins", "configurations"]) t.equal(typeOf(volume), "Directory");
    t.match(containers, [{ image: "registry.example.com/host-local:v1.0.0" }]);
  });
}

for (const [distribution, volume, path, mountPropagation] of [
  ["k3s", "k3s", "/var/lib/rancher/k3s/data", undefined],
  // snapd mounts a squashfs for each revision.
  ["microk8s", "snap", "/snap", "HostToContainer"],
] as const) {
  test(`${distribution}: what its links lead to is where they lead, in both containers`, {
    skip: skipWithoutKubectl,
  }, async (t) => {
    const { spec } = daemonSetIn(build(inRepository(`deploy/overlays/${distribution}`))).spec
      .template;

    t.match(
      spec.volumes.find(({ name }) => name === volume),
      { hostPath: { path, type: "Directory" } },
    );
    for (const { name, volumeMounts } of [...spec.initContainers, ...spec.containers]) {
      const found = volumeMounts.find((one) => one.name === volume);
      t.match(found, { mountPath: path, mountPropagation, readOnly: true }, name);
      t.ok(volumeMounts.some(({ mountPath }) => mountPath === "/host/opt/cni/bin"));
    }
  });
}

/** What is applied with an overlay and components. */
function buildWith(
  t: Pick<Test, "teardown">,
  overlay: string,
  ...components: readonly string[]
): readonly Manifest[] {
  const directory = scratchDirectory(t);
  const path = (part: string): string => relative(directory, inRepository(`deploy/${part}`));
  const kustomization = {
    resources: [path(`overlays/${overlay}`)],
    components: components.map((name) => path(`components/${name}`)),
  };
  writeFileSync(join(directory, "kustomization.yaml"), JSON.stringify(kustomization));
  return build(directory);
}

test("before Kubernetes 1.30 the AppArmor profile of the agent is an annotation", {
  skip: skipWithoutKubectl,
}, async (t) => {
  const daemonSet = daemonSetIn(buildWith(t, "kubeadm", "before-kubernetes-1.30"));
  const { metadata, spec } = daemonSet.spec.template;

  applied.push(daemonSet);
  t.same(metadata.annotations, {
    "container.apparmor.security.beta.kubernetes.io/agent": "unconfined",
  });
  t.same(spec.securityContext, withoutAppArmor);
  t.match(spec.containers[0]?.args, base.spec.template.spec.containers[0]?.args);
});

for (const overlay of distributions) {
  test(`${overlay}: without gc, nothing is there that only gc needs`, {
    skip: skipWithoutKubectl,
  }, async (t) => {
    const daemonSet = daemonSetIn(buildWith(t, overlay, "without-gc"));
    const { spec } = daemonSet.spec.template;
    const [agent] = spec.containers;
    const mounts = agent?.volumeMounts ?? [];

    applied.push(daemonSet);
    t.equal(spec.hostPID, undefined);
    t.same(spec.securityContext, withoutAppArmor);
    t.same(tasksIn(daemonSet), ["install /host/opt/cni/bin --if-replaced --yes", "metrics"]);
    t.match(agent?.securityContext, { capabilities: { drop: ["ALL"], add: ["DAC_OVERRIDE"] } });
    t.notOk([...mounts, ...spec.volumes].some(({ name }) => name === "netns"));
    t.same(
      mounts.filter(({ readOnly }) => readOnly !== true).map(({ name }) => name),
      ["plugins"],
      "the agent writes the plugin directory alone",
    );
  });
}

for (const overlay of distributions) {
  test(`${overlay}: uninstall puts the former plugin back, once, and sees the configurations`, {
    skip: skipWithoutKubectl,
  }, async (t) => {
    for (const [components, tasks] of [
      [["uninstall"], ["metrics", "gc --yes --log"]],
      [["without-gc", "uninstall"], ["metrics"]],
    ] as const) {
      const daemonSet = daemonSetIn(buildWith(t, overlay, ...components));
      const [install] = daemonSet.spec.template.spec.initContainers;

      applied.push(daemonSet);
      t.same(install?.args, ["install", "/host/opt/cni/bin", "--uninstall", "--yes"]);
      const mount = { name: "configurations", mountPath: "/etc/cni/net.d", readOnly: true };
      t.match(install?.volumeMounts.at(-1), mount);
      t.same(tasksIn(daemonSet), tasks, "the agent does not install it again");
    }
  });
}

test("the overlay uninstall is that of kubeadm with the component", {
  skip: skipWithoutKubectl,
}, async (t) => {
  t.same(build(inRepository("deploy/overlays/uninstall")), buildWith(t, "kubeadm", "uninstall"));
});

test("the component for node-feature-discovery adds the task, the directory and the rule", {
  skip: skipWithoutKubectl,
}, async (t) => {
  const objects = buildWith(t, "k3s", "node-feature-discovery");

  const daemonSet = daemonSetIn(objects);
  const { containers, volumes } = daemonSet.spec.template.spec;
  const features = "/etc/kubernetes/node-feature-discovery/features.d";
  applied.push(daemonSet);
  t.equal(tasksIn(daemonSet).at(-1), `capacity --node-feature ${features}`);
  t.match(containers[0]?.volumeMounts.at(-1), { name: "features", mountPath: features });
  t.match(volumes.at(-1), { name: "features", hostPath: { path: features } });
  t.ok(objects.some(({ kind }) => kind === "NodeFeatureRule"));
});

test("the rule makes the resource of the feature that the agent writes by default", async (t) => {
  const file = "deploy/components/node-feature-discovery/node-feature-rule.yaml";
  const rule = parse(readFileSync(inRepository(file), "utf8"));
  const [, name = ""] = /default: ([^)]+)/.exec(resourceOption.summary) ?? [];

  t.match(rule, { apiVersion: "nfd.k8s-sigs.io/v1alpha1", kind: "NodeFeatureRule" });
  t.same(rule.spec.rules, [
    {
      name: "pod-ips",
      matchFeatures: [
        { feature: "local.feature", matchExpressions: { [name]: { op: "Gt", value: ["0"] } } },
      ],
      extendedResources: { [name]: `@local.feature.${name}` },
    },
  ]);
});

test("all that is applied is valid", async (t) => {
  t.ok(skipWithoutKubectl !== false || applied.length >= 4 * distributions.length);
  t.same(violations(...applied), []);
});
