// test: own process, slow
/** The manifests in deploy/: valid, confined, and with the paths of each distribution. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { IDaemonSet } from "kubernetes-models/apps/v1";
import { type Test, test } from "tap";
import { parse, parseAllDocuments } from "yaml";
import { parseCommandLine } from "../../src/cli/command/command-line.ts";
import { findCommand } from "../../src/cli/manual/help.ts";
import { commands } from "../../src/commands.ts";
import { tasksOf } from "../../src/operator/agent/task.ts";
import { resourceOption } from "../../src/operator/capacity/extended-resource.ts";
import { knownPluginDirectories } from "../../src/operator/configured/plugin-directories.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { kubectl, skipWithoutKubectl } from "../harness/kubectl.ts";
import { inRepository } from "../harness/repository.ts";

/** An object of a manifest. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The objects of a file with several documents. */
function objectsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** The pods of the DaemonSet among objects. */
function podsIn(objects: readonly Manifest[]) {
  const found = objects.find(({ kind }) => kind === "DaemonSet") as IDaemonSet | undefined;
  const { metadata, spec } = found?.spec?.template ?? {};
  if (spec === undefined) throw new Error("no DaemonSet");
  const { initContainers = [], containers, volumes = [] } = spec;
  const [install] = initContainers;
  const [agent] = containers;
  return {
    metadata,
    spec,
    containers: [...initContainers, ...containers],
    volumes,
    install,
    agent,
  };
}

const manifests = objectsIn(readFileSync(inRepository("deploy/base/daemonset.yaml"), "utf8"));
const base = podsIn(manifests);

/** All objects that these tests apply: the last test compares them with the schemas at once, which takes a compiler. */
const applied: Manifest[] = [...manifests];

test("it runs everywhere, first, without access to the API and without privileges", async (t) => {
  t.match(base.spec, {
    priorityClassName: "system-node-critical",
    tolerations: [{ operator: "Exists" }],
    automountServiceAccountToken: false,
    hostNetwork: true,
    // With this type SELinux lets the agent write the paths of the node.
    securityContext: { seLinuxOptions: { type: "spc_t" } },
  });
  for (const { securityContext, volumeMounts = [] } of base.containers) {
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

test("the agent knows of which machine a journal is", async (t) => {
  const mount = base.agent?.volumeMounts?.find(({ mountPath }) => mountPath === "/etc/machine-id");
  t.match(mount, { readOnly: true });
  t.match(
    base.volumes.find(({ name }) => name === mount?.name),
    { hostPath: { path: "/etc/machine-id", type: "File" } },
  );
});

test("its capabilities are those of the unit for gc, and one for the seccomp profile", async (t) => {
  const unit = readFileSync(inRepository("conf-examples/operator/host-local-gc.service"), "utf8");
  const [, names = ""] = /^CapabilityBoundingSet=(.*)$/m.exec(unit) ?? [];

  const ofUnit = names.replaceAll("CAP_", "").split(" ");
  const { capabilities } = base.agent?.securityContext ?? {};
  // The unit allows open_by_handle_at by its name, instead of this capability.
  t.same(capabilities?.add, [...ofUnit, "DAC_READ_SEARCH"].sort());
  const ofAnotherUser = { capabilities: { add: ["DAC_OVERRIDE"] } };
  t.match(base.install?.securityContext, ofAnotherUser, "it may write where the agent may");
});

test("it is ready within a second of its tasks' first run, and not restarted while they fail", async (t) => {
  t.match(base.agent, {
    startupProbe: { httpGet: { path: "/healthz" }, periodSeconds: 1, failureThreshold: 3600 },
    readinessProbe: { httpGet: { path: "/healthz" } },
    livenessProbe: undefined,
  });
});

/** The tasks of the agent; throws UsageError unless they are commands with their options. */
function tasksIn({ agent }: ReturnType<typeof podsIn>): readonly string[] {
  const [name = "", ...words] = agent?.args ?? [];
  const given = parseCommandLine(findCommand(commands, name), words);
  return tasksOf(given, commands).map((task) => task.words.join(" "));
}

test("the commands are there, with the options that are given", async (t) => {
  const [name = "", ...words] = base.install?.args ?? [];

  t.equal(name, "install");
  t.ok(parseCommandLine(findCommand(commands, name), words).has("--yes"));
  t.same(tasksIn(base), [
    "install /host/opt/cni/bin --if-replaced --yes",
    "metrics",
    "gc --yes --log",
  ]);
  t.match(base.volumes, [{ name: "plugins" }]);
});

/** The changes for a DaemonSet as in Kubernetes before 1.30, and without gc. */
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

/** The objects that `kubectl apply --kustomize` would apply, with an overlay and components. */
function built(
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
  const { status, stdout, stderr } = spawnSync(kubectl, ["kustomize", directory], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  const objects = objectsIn(stdout);
  // NodeFeatureRule is not a kind of Kubernetes itself.
  applied.push(...objects.filter(({ kind }) => kind !== "NodeFeatureRule"));
  return objects;
}

test("before Kubernetes 1.30 the AppArmor profile of the agent is an annotation", {
  skip: skipWithoutKubectl,
}, async (t) => {
  const { metadata, spec, agent } = podsIn(built(t, "kubeadm", "before-kubernetes-1.30"));

  t.same(metadata?.annotations, {
    "container.apparmor.security.beta.kubernetes.io/agent": "unconfined",
  });
  t.same(spec.securityContext, withoutAppArmor);
  t.match(agent?.args, base.agent?.args);
});

for (const overlay of distributions) {
  test(`${overlay}: its paths belong together`, { skip: skipWithoutKubectl }, async (t) => {
    const objects = built(t, overlay);
    const { volumes, agent } = podsIn(objects);
    const pathOf = (volume: string) => volumes.find(({ name }) => name === volume)?.hostPath;

    for (const object of objects) {
      t.match(object, { metadata: { namespace: "kube-system" } }, object.kind);
    }
    const path = pathOf("plugins")?.path;
    const known = knownPluginDirectories.find(({ directory }) => directory === path);
    t.equal(pathOf("configurations")?.path, known?.configurations);
    // With this type a wrong path fails instead of being created.
    for (const volume of ["plugins", "configurations"]) t.equal(pathOf(volume)?.type, "Directory");
    t.match(agent, { image: "registry.example.com/host-local:v1.0.0" });
  });

  test(`${overlay}: without gc, nothing is there that only gc needs`, {
    skip: skipWithoutKubectl,
  }, async (t) => {
    const pods = podsIn(built(t, overlay, "without-gc"));
    const { spec, agent, volumes } = pods;
    const mounts = agent?.volumeMounts ?? [];

    t.equal(spec.hostPID, undefined);
    t.same(spec.securityContext, withoutAppArmor);
    t.same(tasksIn(pods), ["install /host/opt/cni/bin --if-replaced --yes", "metrics"]);
    t.match(agent?.securityContext, { capabilities: { drop: ["ALL"], add: ["DAC_OVERRIDE"] } });
    t.notOk([...mounts, ...volumes].some(({ name }) => name === "netns"));
    t.same(
      mounts.filter(({ readOnly }) => readOnly !== true).map(({ name }) => name),
      ["plugins"],
      "the agent writes the plugin directory alone",
    );
  });

  test(`${overlay}: uninstall puts the former plugin back, once, and sees the configurations`, {
    skip: skipWithoutKubectl,
  }, async (t) => {
    for (const [components, tasks] of [
      [["uninstall"], ["metrics", "gc --yes --log"]],
      [["without-gc", "uninstall"], ["metrics"]],
    ] as const) {
      const pods = podsIn(built(t, overlay, ...components));

      t.same(pods.install?.args, ["install", "/host/opt/cni/bin", "--uninstall", "--yes"]);
      const mount = { name: "configurations", mountPath: "/etc/cni/net.d", readOnly: true };
      t.match(pods.install?.volumeMounts?.at(-1), mount);
      t.same(tasksIn(pods), tasks, "the agent does not install it again");
    }
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
    const { volumes, containers } = podsIn(built(t, distribution));

    t.match(
      volumes.find(({ name }) => name === volume),
      { hostPath: { path, type: "Directory" } },
    );
    for (const { name, volumeMounts = [] } of containers) {
      const found = volumeMounts.find((mount) => mount.name === volume);
      t.match(found, { mountPath: path, mountPropagation, readOnly: true }, name);
      t.ok(volumeMounts.some(({ mountPath }) => mountPath === "/host/opt/cni/bin"));
    }
  });
}

test("the overlay uninstall is that of kubeadm with the component", {
  skip: skipWithoutKubectl,
}, async (t) => {
  t.same(built(t, "uninstall"), built(t, "kubeadm", "uninstall"));
});

test("the component for node-feature-discovery adds the task, the directory and the rule", {
  skip: skipWithoutKubectl,
}, async (t) => {
  const objects = built(t, "k3s", "node-feature-discovery");

  const pods = podsIn(objects);
  const features = "/etc/kubernetes/node-feature-discovery/features.d";
  t.equal(tasksIn(pods).at(-1), `capacity --node-feature ${features}`);
  t.match(pods.agent?.volumeMounts?.at(-1), { name: "features", mountPath: features });
  t.match(pods.volumes.at(-1), { name: "features", hostPath: { path: features } });
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

/** The types of the API allow only its own members. */
test("all that is applied is valid", async (t) => {
  t.ok(skipWithoutKubectl !== false || applied.length >= 4 * distributions.length);
  // The directory is in the repository, so that the package with the types is found.
  const directory = mkdtempSync(inRepository("build/manifest-"));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "manifest.ts");
  const text = applied.map(
    ({ apiVersion, kind, ...rest }, at) =>
      `import type { I${kind} as I${at} } from "kubernetes-models/${apiVersion}";
export const manifest${at}: I${at} = ${JSON.stringify({ apiVersion, kind, ...rest }, undefined, 2)};
`,
  );
  writeFileSync(file, text.join(""));
  const { stdout, stderr } = spawnSync(
    inRepository("node_modules/.bin/tsc"),
    [
      ...["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig"],
      ...["--module", "nodenext", "--types", "", file],
    ],
    // The compiler runs without the modules that tap loads into every process of Node.js.
    { encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } },
  );
  t.equal(stdout + stderr, "");
});
