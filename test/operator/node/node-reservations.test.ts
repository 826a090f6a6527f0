/** Reservations that change while they are read. */

import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { containerOf, readReservations } from "../../../src/operator/node/node-reservations.ts";
import { openNetwork } from "../../../src/store/files/network-files.ts";
import { createNodeOperatorSystem } from "../../../src/system/node/operator-system.ts";
import type { OperatorSystem } from "../../../src/system/operator-system.ts";
import { scratchDirectory } from "../../harness/data-directory.ts";
import { networkName } from "../../store/fixtures.ts";
import { networkIn } from "./reservation.ts";

const names = ["10.7.9.2", "10.7.9.3", "10.7.9.4"];

/** The container ids of three reservations, one of which changes just before a call reads its path. */
function readWhile(
  t: Test,
  call: "readFile" | "linkStatus",
  change: (path: string) => void,
): readonly string[] {
  const dataDir = scratchDirectory(t);
  mkdirSync(join(dataDir, "net"));
  for (const name of names) writeFileSync(join(dataDir, "net", name), `of-${name}\r\neth0`);
  const changed = join(dataDir, "net", "10.7.9.3");
  const system = createNodeOperatorSystem();
  let isChanged = false;
  const before =
    <A extends readonly unknown[], R>(run: (path: string, ...rest: A) => R) =>
    (path: string, ...rest: A): R => {
      if (path === changed && !isChanged) {
        isChanged = true;
        change(path);
      }
      return run(path, ...rest);
    };
  const changing: OperatorSystem = {
    ...system,
    ...(call === "readFile"
      ? { readFile: before(system.readFile) }
      : { linkStatus: before(system.linkStatus) }),
  };
  const location = openNetwork(changing, dataDir, networkName("net"));
  return readReservations(changing, networkIn(dataDir, { location })).map(({ owner }) =>
    containerOf(owner),
  );
}

for (const call of ["readFile", "linkStatus"] as const) {
  test(`a file that goes between the listing and ${call} is left out`, (t) => {
    t.same(readWhile(t, call, unlinkSync), ["of-10.7.9.2", "of-10.7.9.4"]);
    t.end();
  });
}

test("an address that is reserved anew before it is read has its new owner", (t) => {
  const replace = (path: string): void => {
    unlinkSync(path);
    writeFileSync(path, "new\r\neth0");
  };

  t.same(readWhile(t, "readFile", replace), ["of-10.7.9.2", "new", "of-10.7.9.4"]);
  t.end();
});

test("an empty file is a reservation that names no container", (t) => {
  const empty = (path: string): void => writeFileSync(path, "");

  t.same(readWhile(t, "linkStatus", empty), ["of-10.7.9.2", "", "of-10.7.9.4"]);
  t.end();
});
