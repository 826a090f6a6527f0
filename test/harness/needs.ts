/**
 * What tests need of the machine they run on. Each question is asked as the product asks it, or by trying what the tests do.
 * The words are those of the first line of a test file: `npm test -- --needing` finds the file by them.
 */

import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Need, wordsOf } from "../../scripts/test/files.ts";
import { AddressesInUse } from "../../src/store/namespaces/addresses-in-use.ts";
import { isOutsideNode } from "../../src/store/namespaces/view.ts";
import { createNodeSystem } from "../../src/system/node/node-system.ts";

/** Why a need is not met, in a sentence; `undefined` where it is. */
const questions: Readonly<Record<Need, () => string | undefined>> = {
  "sees the node": () => {
    const system = createNodeSystem();
    if (isOutsideNode(system)) {
      return "This process is in another network namespace than the node.";
    }
    const look = (): string | undefined => new AddressesInUse(system).incomplete;
    // On a busy machine, processes may come and go while it looks.
    const incomplete = look() && look() && look();
    return incomplete && `What lives on this node is not known here: ${incomplete}.`;
  },
  "makes namespaces": () =>
    refusal("Making a network namespace takes CAP_SYS_ADMIN", [
      ": >pod",
      "trap 'umount --lazy pod' EXIT",
      "unshare --net=pod true",
      "nsenter --net=pod true",
    ]) ??
    refusal("Making an interface takes CAP_NET_ADMIN", [
      `unshare --net sh -c 'ip link add eth0 type veth peer name eth1 && ip address add 192.0.2.1/32 dev eth0'`,
    ]),
  mounts: () =>
    refusal("Mounting takes CAP_SYS_ADMIN", [
      "unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /mnt && exec nsenter --version'",
    ]),
  "acts as others": () =>
    inDirectory((directory) => {
      const user = process.getuid?.() === NOBODY ? NOBODY - 1 : NOBODY;
      try {
        chownSync(directory, user, user);
      } catch {
        return "Giving a file to another user takes CAP_CHOWN.";
      }
      const { status } = spawnSync("true", { uid: user, gid: user });
      return status === 0 ? undefined : "Acting as another user takes CAP_SETUID and CAP_SETGID.";
    }),
};

/** The user and group `nobody`. */
export const NOBODY = 65534;

const answers = new Map<Need, string | undefined>();

/**
 * The reason for tap to skip what has these needs, or false where all are met.
 *
 * @throws Error if the first line of the running test file does not name one of them
 */
export function lacking(...needs: readonly Need[]): string | false {
  const unmet = needs.map((need) => {
    requireDeclared(need);
    return answerTo(need);
  });
  return unmet.find((reason) => reason !== undefined) ?? false;
}

/** Whether a need is met, for a test that can do without it. */
export function isGiven(need: Need): boolean {
  return answerTo(need) === undefined;
}

function answerTo(need: Need): string | undefined {
  if (!answers.has(need)) answers.set(need, questions[need]());
  return answers.get(need);
}

function requireDeclared(need: Need): void {
  const [, file = ""] = process.argv;
  if (!file.endsWith(".test.ts") || wordsOf(file).has(need)) return;
  throw new Error(`${file}: "${need}" is not in its first line.`);
}

/** The reason why commands of the shell fail, with the output of the last one. */
function refusal(what: string, commands: readonly string[]): string | undefined {
  return inDirectory((cwd) => {
    const script = commands.join(" && ");
    const { status, stderr } = spawnSync("sh", ["-c", script], { cwd, encoding: "utf8" });
    const [problem = ""] = stderr.split("\n", 1);
    return status === 0 ? undefined : `${what}: ${problem}.`;
  });
}

function inDirectory<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), "host-local-need-"));
  try {
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
