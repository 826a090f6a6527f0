// test: each executable, full extent only, slow, makes namespaces, mounts
/** containerd over the CRI, as the kubelet drives it, and its own client `ctr`. */

import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cgroupOfScenario } from "../e2e/scenario.ts";
import { executable } from "../harness/executable.ts";
import { inRepository } from "../harness/repository.ts";
import { until } from "../harness/until.ts";
import { clientScenario, printedVersion } from "./client-scenario.ts";
import { Containerd, Ctr, needsOfContainerd, newestRelease, releases } from "./containerd.ts";
import { Cri } from "./cri.ts";
import { imageName } from "./image.ts";
import { lifeOfARange, network, rangeLife } from "./range-life.ts";

const version = () => printedVersion(["containerd", "--version"]);

for (const release of releases) {
  const needs = needsOfContainerd(release);

  clientScenario(
    {
      name: `containerd ${release}, CRI`,
      scenario: rangeLife,
      needs,
      version,
      ...(release === newestRelease ? { fixture: "containerd" } : {}),
    },
    async (t, host) => {
      host.configure(network);
      const containerd = await Containerd.start(t, host);
      const pods = new Cri(containerd);

      await lifeOfARange(t, host, pods);

      await pods.start("reported");
      t.equal(await pods.addressOf("reported"), "10.61.0.4", "the CRI reports the address");
      await pods.stop("reported");
      const late = host.recordedCalls().filter(({ environment }) => environment.CNI_NETNS === "");
      const codes = new Set(late.map(({ exitCode }) => exitCode));
      t.same(
        [...codes],
        [0],
        "the last DEL of a pod comes without a network namespace, and succeeds",
      );
    },
  );

  clientScenario(
    { name: `ctr ${release}, --cni`, scenario: rangeLife, needs, version },
    async (t, host) => {
      host.configure(network);
      await Containerd.start(t, host);
      await lifeOfARange(t, host, new Ctr(t));
    },
  );
}

clientScenario(
  {
    name: "containerd 2, STATUS",
    fixture: "containerd-status",
    scenario: 'NetworkReady while a range is full, with `"exhaustedStatus": "unavailable"`',
    needs: needsOfContainerd(newestRelease, "1.1.0"),
    version,
  },
  async (t, host) => {
    const ipam = { type: "host-local", subnet: "10.62.0.0/30", exhaustedStatus: "unavailable" };
    host.configure({
      cniVersion: "1.1.0",
      name: "status",
      plugins: [{ type: "bridge", bridge: "cni-status", isGateway: true, ipam }],
    });
    const containerd = await Containerd.start(t, host);
    const pods = new Cri(containerd);
    await pods.start("only");

    const full = await containerd.runtime.networkReady();
    t.notOk(full.ready, "a full range makes the network not ready");
    t.match(full.message, /exhausted|no IP addresses available/, "and the runtime says why");

    await pods.stop("only");
    await until("the network", async () => (await containerd.runtime.networkReady()).ready);
    t.ok((await containerd.runtime.networkReady()).ready, "a free address makes it ready");
  },
);

clientScenario(
  {
    name: "containerd 2, annotations",
    scenario:
      "a pod asks for an address by an annotation. A VM's next pod gets the address of its last",
    needs: needsOfContainerd(newestRelease),
    version,
  },
  async (t, host) => {
    const ipam = {
      type: "host-local",
      subnet: "10.64.0.0/28",
      requested: { by: ["example.com/ip"] },
      sticky: { by: ["K8S_POD_NAMESPACE", "kubevirt.io/domain"] },
    };
    const capabilities = { "io.kubernetes.cri.pod-annotations": true };
    host.configure({
      cniVersion: "1.0.0",
      name: "annotated",
      plugins: [{ type: "bridge", bridge: "cni-annotated", isGateway: true, capabilities, ipam }],
    });
    const pods = new Cri(await Containerd.start(t, host));
    await pods.start("asks", { "example.com/ip": "10.64.0.9" });
    t.equal(await pods.addressOf("asks"), "10.64.0.9");

    await pods.start("launcher-a", { "kubevirt.io/domain": "db" });
    const own = await pods.addressOf("launcher-a");
    await pods.stop("launcher-a");
    await pods.start("another");
    await pods.start("launcher-b", { "kubevirt.io/domain": "db" });
    t.equal(await pods.addressOf("launcher-b"), own);
    t.not(await pods.addressOf("another"), own);
    for (const name of ["asks", "another", "launcher-b"]) await pods.stop(name);
    t.same(host.reservations("annotated"), {});
  },
);

clientScenario(
  {
    name: "ctr 2, --cni --detach",
    scenario:
      "a container that ends by itself gets no DEL. gc with the command of docs/leaked-addresses.md releases only its address",
    needs: needsOfContainerd(newestRelease),
    version,
  },
  async (t, host) => {
    host.configure(network);
    await Containerd.start(t, host);
    const ctr = (...words: readonly string[]) => execFileSync("ctr", words, { stdio: "pipe" });
    for (const name of ["alive", "dead"]) {
      const cgroup = ["--cgroup", `/${cgroupOfScenario}/${name}`];
      ctr("run", "--cni", "--detach", ...cgroup, imageName, name);
    }
    const reserved = () => Object.keys(host.reservations(network.name));
    const pid = Number(/^dead +(\d+)/m.exec(String(ctr("task", "ls")))?.[1]);
    // The process id 0 would mean this process and its whole group.
    assert(pid > 0, "the task runs");
    process.kill(pid, "SIGKILL");
    await until("the end of the task", () => ctr("task", "ls").includes("STOPPED"));
    ctr("task", "rm", "dead");
    ctr("container", "rm", "dead");
    t.equal(reserved().length, 2, "the address of a dead container stays reserved");

    const page = readFileSync(inRepository("docs/leaked-addresses.md"), "utf8");
    const listed = /all namespaces of containerd \| `'(.*)'` \|/.exec(page)?.[1] ?? "";
    const list = ["--live-command", listed.replaceAll("\\|", "|")];
    const words = ["gc", network.name, ...list, "--grace", "0s", "--now", "--yes"];
    execFileSync(executable, words, { stdio: "pipe" });
    t.same(reserved(), ["10.61.0.2"], "gc releases that one alone");
    ctr("task", "kill", "--signal", "SIGKILL", "alive");
    await until("its DEL", () => reserved().length === 0);
  },
);
