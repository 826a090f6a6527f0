/** podman and buildah with the CNI backend, and their common configuration. */

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import type { Test } from "tap";
import type { Host } from "../e2e/host.ts";
import { cgroupOfScenario } from "../e2e/scenario.ts";
import { Daemon } from "./daemon.ts";
import { imageName, writeImage } from "./image.ts";
import { type Client, network } from "./range-life.ts";

/** The configuration that both programs read instead of files in /etc. */
const configurationFile = "/run/containers.conf";

/** Containers of `podman run`. */
export class Podman implements Client {
  /**
   * Configures podman and gives it the image.
   *
   * @param host the host, whose network is configured
   */
  constructor(host: Host) {
    configure(host);
    podman("load", "-i", writeImage("/run/image"));
  }

  /**
   * Starts a container.
   *
   * @param name its name
   * @param options further options of `podman run`
   */
  async start(name: string, ...options: readonly string[]): Promise<void> {
    const where = ["--network", network.name, "--cgroup-parent", `/${cgroupOfScenario}`];
    podman("run", "--detach", "--name", name, ...where, ...options, imageName);
  }

  async stop(name: string): Promise<void> {
    podman("rm", "--force", "--time", "0", name);
  }

  /** The address that podman reports for a container. */
  addressOf(name: string): string {
    const format = `{{(index .NetworkSettings.Networks "${network.name}").IPAddress}}`;
    return podman("inspect", "--format", format, name).trim();
  }
}

/** Steps of `buildah run`, each with a network of its own. */
export class Buildah implements Client {
  readonly #t: Test;
  readonly #running = new Map<string, Daemon>();

  /**
   * Configures buildah and gives it the image.
   *
   * @param t the test that owns its containers
   * @param host the host, whose network is configured
   */
  constructor(t: Test, host: Host) {
    this.#t = t;
    configure(host);
    buildah("pull", `docker-archive:${writeImage("/run/image")}`);
  }

  async start(name: string): Promise<void> {
    const cgroup = ["--cgroup-parent", `/${cgroupOfScenario}/${name}`];
    buildah("from", "--pull-never", ...cgroup, "--name", name, imageName);
    const words = ["run", name, "sh", "-c", "echo attached; sleep 86400"];
    const run = new Daemon(this.#t, `/run/buildah-${name}.log`, ["buildah", ...words]);
    await run.until(`step ${name}`, () => run.output.includes("attached"));
    this.#running.set(name, run);
  }

  async stop(name: string): Promise<void> {
    await this.#running.get(name)?.stop("SIGTERM");
    buildah("rm", name);
  }
}

function podman(...words: readonly string[]): string {
  return run("podman", ["--cgroup-manager", "cgroupfs", ...words]);
}

function buildah(...words: readonly string[]): string {
  return run("buildah", words);
}

function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Configures both programs. The limits allow for machines without CAP_SYS_RESOURCE; storage on overlays needs a file system of
 * its own.
 */
function configure(host: Host): void {
  const directory = "/var/lib/containers";
  mkdirSync(directory, { recursive: true });
  mkdirSync("/etc/containers", { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", directory]);
  writeFileSync("/etc/containers/policy.json", '{"default":[{"type":"insecureAcceptAnything"}]}');
  writeFileSync(
    configurationFile,
    `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "runc"
events_logger = "file"
[network]
network_backend = "cni"
cni_plugin_dirs = ["${host.pluginDirectory}"]
network_config_dir = "/etc/cni/net.d"
default_network = "${network.name}"
`,
  );
  process.env.CONTAINERS_CONF = configurationFile;
}
