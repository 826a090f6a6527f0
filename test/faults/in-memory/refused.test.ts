// test: own process
/** A call to which the machine refuses something either does its work or says what went wrong, and undoes it. */

import { test } from "tap";
import { SystemError } from "../../../src/system/system.ts";
import { extent } from "../../harness/extent.ts";
import {
  type Call,
  failAt,
  failDiskFrom,
  failKindFrom,
  type Interrupt,
} from "../../harness/interruption.ts";
import { DATA_DIRECTORY } from "../../harness/memory-machine.ts";
import type { Answer, Network } from "../../harness/network.ts";
import { sample } from "../../harness/sample.ts";
import { seed } from "../../harness/seed.ts";
import { brokenPromises, heldByVictim } from "./recovery.ts";
import { type Scenario, scenarios } from "./scenarios.ts";

/** What is refused, and at which calls; `undefined` stands for all of them. */
const REFUSALS: readonly (readonly [code: string, operations: readonly string[] | undefined])[] = [
  ["EIO", undefined],
  ["ENOSPC", undefined],
  ["EACCES", undefined],
  ["EROFS", undefined],
  ["EMFILE", undefined],
  ["EXDEV", ["link", "rename"]],
  ["EPERM", ["link"]],
];

/** At one of this many system calls. */
const oneIn = extent === "short" ? 8 : 1;

/** These are refused, too, to all calls of one kind alone; the others would not differ there. */
const ALSO_BY_KIND = ["EIO", "EMFILE"];

for (const scenario of scenarios) {
  for (const [code, operations] of REFUSALS) {
    test(`${scenario.name} bears ${code} at any system call, once, for good, or all of a kind`, (t) => {
      const undisturbed = scenario.act(scenario.prepare(), {});
      const broken: string[] = [];

      for (const call of sample(undisturbed.calls, oneIn, seed)) {
        const { number, operation, path } = call;
        if (operations !== undefined && !operations.includes(operation)) continue;
        const extents: readonly (readonly [string, Interrupt])[] = [
          ["once", failAt(number, code)],
          ["for good", failDiskFrom(number, code)],
          ...(ALSO_BY_KIND.includes(code)
            ? [["and all of its kind", failKindFrom(call, code)] as const]
            : []),
        ];
        for (const [extent, interrupt] of extents) {
          const found = afterRefusal(scenario, interrupt, undisturbed);
          broken.push(...found.map((text) => `${number} ${operation} ${path} ${extent}: ${text}`));
        }
      }

      t.equal(broken.join("\n"), "");
      t.end();
    });
  }
}

function afterRefusal(
  scenario: Scenario,
  interrupt: Interrupt,
  undisturbed: Answer,
): readonly string[] {
  const network = scenario.prepare();
  const before = network.reservations();
  const refused: Refusal[] = [];
  const answer = scenario.act(network, {
    interrupt: (call) => {
      const interruption = interrupt(call);
      if (interruption?.kind === "fail") {
        refused.push({ call, error: new SystemError("", call.path, interruption.code) });
      }
      return interruption;
    },
  });
  return [
    ...brokenAnswer(scenario, network, answer, undisturbed, refused),
    ...brokenRollback(scenario, network, before, answer, refused),
    ...brokenPromises(network, before, scenario),
  ];
}

interface Refusal {
  readonly call: Call;
  readonly error: SystemError;
}

/** The answer says what happened. */
function brokenAnswer(
  scenario: Scenario,
  network: Network,
  answer: Answer,
  undisturbed: Answer,
  refused: readonly Refusal[],
): readonly string[] {
  // As by the Go plugin, a reservation that cannot be read is passed over: it may be anybody's. A DEL does so only
  // where the journal does not know whose it is, and never where nothing but a descriptor is missing.
  const isPassedOver = refused.some(
    ({ call, error }) =>
      ["readFile", "linkStatus"].includes(call.operation) &&
      call.path.startsWith(network.directory) &&
      (scenario.verb !== "DEL" || error.code !== "EMFILE"),
  );
  if (isPassedOver && scenario.verb !== "ADD") return [];
  return answer.exitCode === 0
    ? brokenSuccess(scenario, network, answer)
    : brokenFailure(answer, undisturbed, refused);
}

/** A call that reports success did its work. */
function brokenSuccess({ verb }: Scenario, network: Network, answer: Answer): readonly string[] {
  const promised = verb === "ADD" ? answer.addresses : [];
  const held = heldByVictim(network);
  if (verb === "CHECK" || verb === "STATUS" || String(held) === String(promised)) return [];
  return [`after a success the victim holds ${promised}, found ${held}`];
}

/**
 * A failure is one error object; it names what was refused, or what would have failed anyway, or the empty file that could
 * not be reclaimed.
 */
function brokenFailure(
  { exitCode, error, stdout, stderr }: Answer,
  undisturbed: Answer,
  refused: readonly Refusal[],
): readonly string[] {
  if (exitCode !== 1) return [`the exit code is 1, found ${exitCode}`];
  if (error === undefined) {
    return stderr.includes("write /dev/stdout") ? [] : ["the failure is reported, found no report"];
  }
  const text = `${error.msg} ${error.details}`;
  const isNamed =
    error.msg === undisturbed.error?.msg ||
    (error.details?.includes("files that name no container") &&
      refused.every(({ call }) => ["rename", "linkStatus"].includes(call.operation))) ||
    // Nor could a look at the reservations from before the boot.
    refused.every(
      ({ call }) =>
        ["linkStatus", "rename"].includes(call.operation) && call.path.startsWith(DATA_DIRECTORY),
    ) ||
    refused.some(({ error: { path, reason } }) => text.includes(path) && text.includes(reason));
  return isNamed ? [] : [`the error names a path and a cause, found ${stdout}`];
}

/** A failed ADD holds nothing that it did not hold before, unless just the giving back was refused, or the look whether it is still its own. */
function brokenRollback(
  { verb }: Scenario,
  network: Network,
  before: Readonly<Record<string, string>>,
  { exitCode }: Answer,
  refused: readonly Refusal[],
): readonly string[] {
  if (verb !== "ADD" || exitCode === 0) return [];
  const kept = heldByVictim(network).filter(
    (address) =>
      !(address in before) &&
      !refused.some(
        ({ call }) =>
          (call.operation === "unlink" || call.operation === "linkStatus") &&
          call.path === `${network.directory}/${address}`,
      ),
  );
  return kept.length === 0 ? [] : [`a failed ADD holds nothing, found ${kept}`];
}
