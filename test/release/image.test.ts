// test: release, mounts
/** The image is imported and run by containerd. */

import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { imageName } from "../../scripts/release/image.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { run } from "../harness/executable.ts";
import { lacking } from "../harness/needs.ts";
import { versionCall } from "../harness/runtime-call.ts";
import { fileOf, missing, version } from "./release.ts";

const REFERENCE = `localhost/host-local:v${version}`;

const skip = lacking("mounts") || missing("containerd", "ctr", "runc");

test("containerd imports the image and runs it", { skip }, async (t) => {
  const ctr = await containerd(t);
  const imported = ctr("image", "import", fileOf(imageName({ version })));
  t.equal(imported.status, 0, imported.said);
  t.match(imported.said, REFERENCE);

  const plugins = scratchDirectory(t);
  const mount = `type=bind,src=${plugins},dst=/host/opt/cni/bin,options=rbind:rw`;
  const install = () =>
    ctr(
      ...["run", "--rm", "--snapshotter", "native", "--read-only", "--mount", mount, REFERENCE],
      ...["installer", "/host-local", "install", "/host/opt/cni/bin", "--yes"],
    );
  // The container runs twice, as when the DaemonSet's pod is restarted.
  for (const _ of [1, 2]) {
    t.match(install().said, "Installed /host/opt/cni/bin/host-local");
    t.equal(run(join(plugins, "host-local"), versionCall()).exitCode, 0);
  }

  const entry = ["run", "--rm", "--snapshotter", "native", "--env", "CNI_COMMAND=VERSION"];
  const { said } = ctr(...entry, REFERENCE, "entry");
  t.ok(JSON.parse(said).supportedVersions.includes("1.1.0"), "the entry point is the program");
});

/** Starts a containerd for this test, and returns a function that runs its client. */
async function containerd(t: Test) {
  const directory = scratchDirectory(t);
  const address = join(directory, "containerd.sock");
  const configuration = join(directory, "config.toml");
  writeFileSync(
    configuration,
    `version = 2
root = "${join(directory, "root")}"
state = "${join(directory, "state")}"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "${address}"
[ttrpc]
address = "${address}.ttrpc"
`,
  );
  const daemon = spawn("containerd", ["--config", configuration], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((end) => daemon.once("exit", end));
  t.teardown(async () => {
    daemon.kill("SIGTERM");
    await ended;
  });
  let log = "";
  await new Promise<void>((booted, fail) => {
    daemon.stderr.on("data", (chunk: Buffer) => {
      log += chunk;
      if (log.includes("containerd successfully booted")) booted();
    });
    daemon.once("error", fail);
    daemon.once("exit", () => fail(new Error(log)));
  });
  return (...words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync("ctr", ["--address", address, ...words], {
      encoding: "utf8",
    });
    return { status, said: `${stdout}${stderr}` };
  };
}
