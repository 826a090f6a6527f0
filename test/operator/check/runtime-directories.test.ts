// test: native executable, makes namespaces, mounts
/** Which directories a runtime reads is asked of its configuration, on a node with the `bridge` plugin. */

import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { scenario } from "../../e2e/scenario.ts";
import { tool } from "../../harness/tool.ts";
import type { PrintedFinding } from "../node.ts";

const NETWORK = {
  cniVersion: "1.0.0",
  name: "net",
  plugins: [{ type: "bridge", ipam: { type: "host-local", subnet: "10.219.9.0/29" } }],
};

const FILE = "/etc/cni/net.d/net.conflist";

/** Where the plugins are. */
const OPT = "/opt/cni/bin";

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Configures containerd, with these lines of what is about CNI. */
function configureContainerd(...lines: readonly string[]): void {
  const all = ["version = 3", '[plugins."io.containerd.cri.v1.runtime".cni]', ...lines];
  put("/etc/containerd/config.toml", all.join("\n"));
}

/** What `check` finds, but for what depends on the user who runs the test. */
function found(...words: readonly string[]): readonly string[] {
  const { stdout } = tool(["check", "--json", ...words]);
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly PrintedFinding[] };
  return findings.map(
    ({ severity, code, path, message }) => `${severity} ${code} ${path}: ${message}`,
  );
}

scenario(
  "a node whose containerd says which directories it reads",
  { plugins: ["bridge"], cniVersion: "1.0.0" },
  async (t) => {
    put(FILE, JSON.stringify(NETWORK));

    await t.test("its plugins are where it looks: nothing is found", async (t) => {
      configureContainerd(`bin_dirs = ["/opt/first", "${OPT}"]`);
      t.same(found(), []);
    });

    await t.test("it looks in a directory without the plugin", async (t) => {
      mkdirSync("/opt/other");
      copyFileSync(`${OPT}/bridge`, "/opt/other/bridge");
      configureContainerd('bin_dir = "/opt/other"');
      t.same(found(), [
        "error plugin-missing /opt/other/host-local: there is no plugin, and containerd looks in /opt/other alone",
      ]);
    });

    await t.test("in a container no plugin is started to see whether it can be", async (t) => {
      writeFileSync("/opt/other/host-local", "garbage", { mode: 0o755 });
      t.same(found(), []);
    });

    await t.test("it reads another directory", async (t) => {
      mkdirSync("/etc/cni/other");
      configureContainerd(`bin_dir = "${OPT}"`, 'conf_dir = "/etc/cni/other"');
      t.same(found(), [
        `info shadowed-configuration ${FILE}: no runtime reads /etc/cni/net.d: containerd reads /etc/cni/other`,
      ]);
      rmSync(FILE);
      put("/etc/cni/other/net.conflist", JSON.stringify(NETWORK));
      t.same(found(), []);
      put("/var/lib/cni/networks/net/lock", "");
      t.match(found("--conf-dir", "/etc/cni/net.d"), [
        "info unconfigured-network /var/lib/cni/networks/net: no configuration that was read names this network, but containerd reads /etc/cni/other, which was not read",
      ]);
    });

    await t.test("what it says cannot be read: what is known of others counts", async (t) => {
      put("/etc/containerd/config.toml", "<html>");
      put(FILE, JSON.stringify(NETWORK));
      t.same(found(), []);
    });
  },
);
