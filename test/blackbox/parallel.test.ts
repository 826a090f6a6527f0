// test: each executable, slow
/** Many calls at the same moment, as when a node starts. */

import { test } from "tap";
import { isPortable, type Outcome } from "../harness/executable.ts";
import { type ExecutableNetwork, networkFor } from "../harness/executable-network.ts";
import { extent } from "../harness/extent.ts";
import { grantedAddresses } from "../harness/network.ts";
import { readError } from "../harness/printed-error.ts";

/** With time for hundreds of processes on a few cores, which all but one wait. */
const timeout = { lockTimeoutSeconds: 120 };

/** A range, how many addresses it has besides network, gateway and broadcast, and how many calls there are at once. */
const { range, usable, tooMany, rivals } =
  extent === "short"
    ? { range: "10.0.0.0/28", usable: 13, tooMany: 18, rivals: 6 }
    : isPortable
      ? { range: "10.0.0.0/26", usable: 61, tooMany: 80, rivals: 20 }
      : { range: "10.0.0.0/24", usable: 253, tooMany: 300, rivals: 20 };

function simultaneously(
  network: ExecutableNetwork,
  command: "ADD" | "DEL",
  count: number,
): Promise<Outcome[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => network.begin(command, `c${index}`)),
  );
}

test("of too many simultaneous ADDs as many succeed as there are addresses; as many DELs free all", async (t) => {
  const network = networkFor(t, { subnet: range, ...timeout });

  const outcomes = await simultaneously(network, "ADD", tooMany);

  const granted = outcomes.flatMap(grantedAddresses);
  t.equal(granted.length, usable);
  t.equal(new Set(granted).size, usable);
  const refused = outcomes.filter(({ exitCode }) => exitCode !== 0);
  t.same(
    new Set(refused.map(({ stdout }) => readError(stdout)?.msg)),
    new Set([
      `failed to allocate for range 0: no IP addresses available in range set: 10.0.0.1-10.0.0.${usable + 1}`,
    ]),
  );
  t.equal(refused.length, tooMany - usable);

  const released = await simultaneously(network, "DEL", tooMany);

  t.same(
    released.filter(({ exitCode, stdout }) => exitCode !== 0 || stdout !== ""),
    [],
  );
  t.same(
    network.tree().map(({ path }) => path),
    ["net/", "net/last_reserved_ip.0", "net/lock"],
  );
});

test("simultaneous requests for one address have one winner, whom the file names", async (t) => {
  const network = networkFor(t, { subnet: "10.0.0.0/24", ...timeout });

  const outcomes = await Promise.all(
    Array.from({ length: rivals }, (_, index) =>
      network.begin("ADD", `c${index}`, { cniArgs: "IP=10.0.0.77" }),
    ),
  );

  const winners = outcomes.flatMap(({ exitCode }, index) => (exitCode === 0 ? [`c${index}`] : []));
  t.equal(winners.length, 1);
  const file = network.tree().find(({ path }) => path === "net/10.0.0.77");
  t.equal(file?.content, `${winners[0]}\r\neth0`);
});
