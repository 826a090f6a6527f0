/**
 * Shows the main use: pods get addresses, one too many is refused, a released address is used again.
 *
 * Usage: `npm run demo`. Everything happens in a temporary data directory, which is removed at the end.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const executable = resolve(import.meta.dirname, "..", "dist", "host-local");
const dataDir = mkdtempSync(join(tmpdir(), "host-local-demo-"));
const network = "demo";

const configuration = {
  cniVersion: "1.1.0",
  name: network,
  type: "bridge",
  ipam: {
    type: "host-local",
    dataDir,
    subnet: "10.88.0.0/29",
    rangeStart: "10.88.0.2",
    rangeEnd: "10.88.0.3",
    routes: [{ dst: "0.0.0.0/0" }],
  },
};

/** Calls the executable as a runtime does, and prints the answer and the files on disk. */
function call(title: string, command: string, containerId: string): void {
  const { status, stdout, stderr } = spawnSync(executable, {
    input: JSON.stringify(configuration),
    encoding: "utf8",
    env: {
      // What the demonstration has refused is no failure of this machine.
      HOST_LOCAL_RUNTIME_DIR: "/nonexistent/host-local",
      CNI_COMMAND: command,
      CNI_CONTAINERID: containerId,
      CNI_IFNAME: "eth0",
      CNI_NETNS: `/run/netns/${containerId}`,
      CNI_PATH: "/opt/cni/bin",
    },
  });
  console.log(`\n== ${title}\n$ CNI_COMMAND=${command} CNI_CONTAINERID=${containerId} host-local`);
  if (stdout !== "") console.log(stdout);
  if (stderr !== "") console.log(stderr);
  console.log(`exit code ${status}; on disk:`);
  showDirectory();
}

/** Prints the network's directory: one file for each address, and the cursor. */
function showDirectory(): void {
  for (const name of readdirSync(join(dataDir, network)).sort()) {
    const content = JSON.stringify(readFileSync(join(dataDir, network, name), "utf8"));
    console.log(`  ${network}/${name.padEnd(20)} ${content}`);
  }
}

try {
  console.log("The configuration of a network with room for two pods:");
  console.log(JSON.stringify(configuration, null, 2));
  call("The first pod gets an address", "ADD", "web");
  call("The second pod gets the next one", "ADD", "db");
  call("The third is refused, with the reason", "ADD", "cache");
  call("The first pod is deleted", "DEL", "web");
  call("Its address is used again", "ADD", "cache");
} finally {
  rmSync(dataDir, { recursive: true });
}
