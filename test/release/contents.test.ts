// test: release
/** Packages and image are complete, belong to root, and have the executable of the archive for an architecture. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Test, test } from "tap";
import { command } from "../../scripts/build/command.ts";
import { checksum } from "../../scripts/release/checksum.ts";
import { debName } from "../../scripts/release/deb.ts";
import { type Descriptor, platformOf } from "../../scripts/release/image.ts";
import { rpmName } from "../../scripts/release/rpm.ts";
import { scratchDirectory } from "../harness/data-directory.ts";
import { type Archive, archives, fileOf, unpack, unpackedImage, version } from "./release.ts";

/** The path of the archive's SBOM in the packages. */
const SBOM = "usr/share/host-local/host-local.cdx.json";

function sbomSum({ name }: Archive): string {
  return checksum("sha256", fileOf(name.replace(/\.tgz$/, ".cdx.json")));
}

const natives = archives.filter(({ isPortable }) => !isPortable);

for (const archive of natives) {
  const { architecture } = archive;

  test(`${debName({ version }, architecture)} has the executable of the archive`, async (t) => {
    const path = fileOf(debName({ version }, architecture));
    const unpacked = scratchDirectory(t);
    command(["dpkg-deb", "--extract", path, unpacked]);
    const field = command(["dpkg-deb", "--field", path, "Architecture"]).trim();
    t.equal(field, architecture.debian);
    const listed = command(["dpkg-deb", "--contents", path]).trim();
    t.strictSame(linesWithout(listed, /^\S+ root\/root /), [], "all belong to root");
    for (const name of ["usr/lib/cni/host-local", "usr/sbin/host-local"]) {
      t.equal(checksum("sha256", join(unpacked, name)), executableSum(t, archive), name);
    }
    const notices = readFileSync(join(unpack(t, archive), "THIRD-PARTY-NOTICES"), "utf8");
    const copyright = join(unpacked, "usr/share/doc/host-local/copyright");
    t.ok(readFileSync(copyright, "utf8").includes(notices), "all licences are in one file");
    t.equal(checksum("sha256", join(unpacked, SBOM)), sbomSum(archive));
  });

  test(`${rpmName({ version }, architecture)} has the executable of the archive`, async (t) => {
    const path = fileOf(rpmName({ version }, architecture));
    // Debian's rpm has its database in the home directory.
    const rpm = ["rpm", "--dbpath", scratchDirectory(t), "--nosignature"];
    command([...rpm, "--checksig", path]);
    const format =
      "%{ARCH}\\n[%{FILENAMES} %{FILEDIGESTS} %{FILEFLAGS:fflags} %{FILEUSERNAME} %{FILEGROUPNAME}\\n]";
    const [found, ...lines] = command([...rpm, "-qp", "--qf", format, path])
      .trim()
      .split("\n");
    t.equal(found, architecture.rpm);
    t.strictSame(linesWithout(lines.join("\n"), / root root$/), [], "all belong to root");
    for (const name of ["/usr/libexec/host-local/host-local", "/usr/sbin/host-local"]) {
      const digest = lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1];
      t.equal(digest, executableSum(t, archive), name);
    }
    for (const name of ["LICENSE", "THIRD-PARTY-NOTICES"]) {
      const line = lines.find((printed) =>
        printed.startsWith(`/usr/share/licenses/host-local/${name} `),
      );
      t.equal(line?.split(" ")[2], "l", `${name} is installed without documentation, too`);
    }
    t.ok(lines.some((line) => line.startsWith(`/${SBOM} ${sbomSum(archive)} `)));
  });
}

test("the image has the archive's executable for each architecture, no shell, no user of its own", async (t) => {
  const { directory, manifests, pathOf, read } = unpackedImage(t);
  const blobs = join(directory, "blobs", "sha256");
  for (const name of readdirSync(blobs)) t.equal(checksum("sha256", join(blobs, name)), name);
  t.same(
    manifests.map(({ platform }) => platform).sort(byArchitecture),
    natives.map(({ architecture }) => platformOf(architecture.name)).sort(byArchitecture),
  );
  for (const manifest of manifests) {
    const { config, layers } = read(manifest);
    const [layer] = layers;
    const content = gunzipSync(readFileSync(pathOf(layer)));
    const sum = createHash("sha256").update(content).digest("hex");
    t.match(read(config), {
      ...manifest.platform,
      config: { Entrypoint: ["/host-local"] },
      rootfs: { diff_ids: [`sha256:${sum}`] },
    });
    t.equal(
      command(["tar", "-tzf", pathOf(layer)]),
      "./\n./host-local\n./licenses/\n./licenses/LICENSE\n./licenses/THIRD-PARTY-NOTICES\n",
    );
    t.ok(layer.size < 2_500_000, `${layer.size} bytes`);
    const { architecture = "" } = manifest.platform ?? {};
    const unpacked = join(directory, architecture);
    mkdirSync(unpacked);
    command(["tar", "-xzf", pathOf(layer), "-C", unpacked, "./host-local"]);
    const archive = natives.find((candidate) => candidate.architecture.name === architecture);
    const expected = archive && executableSum(t, archive);
    t.equal(checksum("sha256", join(unpacked, "host-local")), expected, architecture);
  }
});

function byArchitecture(a: Descriptor["platform"], b: Descriptor["platform"]): number {
  return `${a?.architecture}` < `${b?.architecture}` ? -1 : 1;
}

function executableSum(t: Test, archive: Archive): string {
  return checksum("sha256", join(unpack(t, archive), "host-local"));
}

function linesWithout(text: string, expected: RegExp): readonly string[] {
  return text.split("\n").filter((line) => !expected.test(line));
}
