// test: release
/** Another QuickJS library than the pinned one is not linked by accident, and is named with its own version. */

import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { test } from "tap";
import { architectureNamed, ownArchitecture } from "../../scripts/build/architecture.ts";
import { otherQuickJs, quickJsFor } from "../../scripts/build/libraries.ts";
import { buildNative } from "../../scripts/build/native.ts";
import {
  acceptLibrary,
  type Library,
  pinFor,
  quickJsVersion,
  requirePinned,
} from "../../scripts/build/quickjs-pin.ts";
import { scratchDirectory } from "../harness/data-directory.ts";

const architecture = ownArchitecture();
const executable = join("build", "release", `native-${architecture.name}`, "host-local");
const foreign = architectureNamed(architecture.name === "s390x" ? "386" : "s390x");

test("another library is an error that says what was found, and how to accept it", async (t) => {
  const library = quickJsFor(architecture);
  const archive = join(scratchDirectory(t), "libquickjs.a");
  cpSync(library.archive, archive);
  t.doesNotThrow(() => requirePinned({ ...library, archive }));

  appendFileSync(archive, "another");

  t.throws(() => requirePinned({ ...library, archive }), {
    message: new RegExp(
      `${archive} is not the pinned QuickJS .*: expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}\\..*--arch ${architecture.name} --accept-quickjs.*docs/releasing.md`,
    ),
  });
});

test("a library that is accepted is pinned under its own version, for its architecture only", async (t) => {
  const usr = join(scratchDirectory(t), "usr");
  const include = join(usr, "include", "quickjs");
  const documentation = join(usr, "share", "doc", "libquickjs");
  for (const directory of [include, documentation]) mkdirSync(directory, { recursive: true });
  const library: Library = { architecture, include, archive: join(usr, "libquickjs.a") };
  writeFileSync(library.archive, "another library");
  writeFileSync(join(include, "quickjs.h"), "another header");
  const changelog = (name: string, text: string): void =>
    writeFileSync(join(documentation, name), gzipSync(text));
  const pins = join(usr, "pins.json");
  cpSync("scripts/build/quickjs-pin.json", pins);
  const pinned = () => pinFor(architecture, pins);

  t.throws(() => acceptLibrary(library, undefined, pins), { message: /add --quickjs-version/ });
  acceptLibrary(library, "2026.02.03", pins);
  t.equal(pinned()?.packageVersion, "2026.02.03", "without a changelog, the one that is given");

  changelog("changelog.Debian.gz", "quickjs (2026.02.03-2) unstable; urgency=medium\n\n  * New.\n");
  acceptLibrary(library, undefined, pins);
  const pin = pinned();
  t.match(pin, {
    packageVersion: "2026.02.03-2",
    header: /^[0-9a-f]{64}$/,
    archive: /^[0-9a-f]{64}$/,
  });
  t.not(pin?.header, pinFor(architecture)?.header);
  t.equal(pin && quickJsVersion(pin), "2026-02-03");
  t.strictSame(pinFor(foreign, pins), pinFor(foreign));

  changelog(
    `changelog.Debian.${architecture.debian}.gz`,
    "quickjs (2026.02.03-2+b1) sid; urgency=low, binary-only=yes\n",
  );
  acceptLibrary(library, undefined, pins);
  t.equal(pinned()?.packageVersion, "2026.02.03-2+b1", "of a package that was only rebuilt");
});

test("another QuickJS is built from its sources, or linked as the library that it is", async (t) => {
  const directory = scratchDirectory(t);
  const work = scratchDirectory(t);
  t.throws(() => otherQuickJs(architecture, directory, work), {
    message: `${directory} has no quickjs.h, so it is neither QuickJS's sources nor its library`,
  });
  const { archive, include } = quickJsFor(architecture);
  cpSync(include, directory, { recursive: true });
  cpSync(archive, join(directory, "libquickjs.a"));
  writeFileSync(join(directory, "VERSION"), "not the pinned one");

  const output = join(work, "host-local");
  await buildNative({ quickjs: directory, work, output });

  t.ok(readFileSync(output).equals(readFileSync(executable)), "the same library, the same program");
  renameSync(join(directory, "libquickjs.a"), join(directory, "built.a"));
  writeFileSync(join(directory, "quickjs.c"), "");
  writeFileSync(
    join(directory, "Makefile"),
    "libquickjs.a: quickjs.c\n\t$(CC) -c -o quickjs.o quickjs.c\n\tcp built.a $@\n",
  );
  const built = otherQuickJs(foreign, directory, work);
  t.ok(readFileSync(built.archive).equals(readFileSync(archive)));
  const compiled = readFileSync(join(work, "quickjs", "quickjs.o"));
  t.equal(
    compiled.readUInt8(4) === 2,
    foreign.libraryTime === undefined,
    "with the compiler for it",
  );
  t.notOk(existsSync(join(directory, "libquickjs.a")), "its directory stays as it is");
});
