/** Another QuickJS library than the pinned one is not linked by accident. */

import { appendFileSync, cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { libraryOrFetch } from "../../scripts/build-native.ts";
import { ownArchitecture } from "../../scripts/release/architecture.ts";
import { requirePinned } from "../../scripts/release/quickjs-pin.ts";
import { scratchDirectory } from "../blackbox/data-directory.ts";

const architecture = ownArchitecture();

test("another library is an error that says what was found, and how to accept it", (t) => {
  const library = libraryOrFetch(architecture);
  const archive = join(scratchDirectory(t), "libquickjs.a");
  cpSync(library.archive, archive);
  t.doesNotThrow(() => requirePinned({ ...library, archive }));

  appendFileSync(archive, "another");

  t.throws(() => requirePinned({ ...library, archive }), {
    message: new RegExp(
      `${archive} is not the pinned QuickJS .*: expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}\\..*--arch ${architecture.name} --accept-quickjs`,
    ),
  });
  t.end();
});
