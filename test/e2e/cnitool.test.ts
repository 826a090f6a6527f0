// test: native executable, slow, makes namespaces, mounts
/** cnitool, the reference runtime of the CNI project, in front of the main plugins. */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extent } from "../harness/extent.ts";
import { inRepository } from "../harness/repository.ts";
import { sample } from "../harness/sample.ts";
import { seed } from "../harness/seed.ts";
import { exampleFiles, loadExample, readExample } from "./example.ts";
import type { Host } from "./host.ts";
import { Pod } from "./pod.ts";
import { scenario } from "./scenario.ts";

const needs = {
  plugins: ["bridge", "ptp", "macvlan"],
  cniVersion: "1.1.0",
  programs: ["cnitool"],
};

const tried = exampleFiles.filter((name) => !name.endsWith(".template"));

/** The command of each example: the one in its row, or else the one with its name. */
const commands = tried.map((file) => {
  const row = readExample("README.md")
    .split("\n")
    .find((line) => line.startsWith(`| [\`${file}\`]`));
  const [, command] = /`((?:install .+?; |\w+='\S+' )?cnitool add .+?)`/.exec(row ?? "") ?? [];
  return command ?? `cnitool add ${file.replace(/\.\w+$/, "")} /run/netns/pod`;
});

scenario("cnitool: every command of conf-examples/README.md works as written", needs, (t, host) => {
  host.plugInCard("eth0");
  for (const command of sample(commands, extent === "short" ? 5 : 1, seed)) {
    const pod = new Pod("pod");
    t.doesNotThrow(() => shell(host, command), command);
    const addresses = pod.addresses();
    t.not(addresses.length, 0, "the pod has an address");
    for (const [asked] of command.matchAll(/(?<=["=])[\da-f]+[.:][\da-f.:]+(?=["'])/g)) {
      t.match(addresses.join(" "), `${asked}/`, "the one that is asked for");
    }
    t.doesNotThrow(() => shell(host, command.replace("cnitool add", "cnitool del")), "DEL works");
    pod.remove();
    host.deleteBridges();
  }
  for (const file of tried) {
    t.same(host.reservations(loadExample(file).name), {}, `${file} leaves nothing`);
  }
});

scenario("cnitool: the commands of docs/addresses.md work as written", needs, (t, host) => {
  const page = readFileSync(inRepository("docs/addresses.md"), "utf8");
  const [, script = ""] = /^```sh\n(ip netns add .*?)^```$/ms.exec(page) ?? [];

  const output = execFileSync("bash", ["-ec", script], {
    cwd: inRepository("."),
    env: { PATH: `${process.env.PATH}:${inRepository("build")}` },
    encoding: "utf8",
  });

  t.match(output, "inet 10.26.0.2/24", "the pod has the address");
  t.same(host.reservations("ptp"), {}, "nothing stays");
});

function shell(host: Host, command: string): string {
  return execFileSync("sh", ["-c", command], {
    cwd: inRepository("conf-examples"),
    env: {
      PATH: `${process.env.PATH}:${inRepository("build")}`,
      CNI_PATH: host.pluginDirectory,
      NETCONFPATH: inRepository("conf-examples"),
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}
