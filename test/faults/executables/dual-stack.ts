/** A dual-stack network with room for three; a fault is injected into the call of one attachment. */

import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { grantedAddresses } from "../../blackbox/network.ts";
import { type Call, type Outcome, start } from "../../harness/executable.ts";
import { readError } from "../../harness/printed-error.ts";
import {
  attachmentCall,
  configuration,
  type JsonObject,
  networkCall,
} from "../../harness/runtime-call.ts";
import type { Verifier } from "../../harness/violations.ts";
import { LOCK_TIMEOUT, type Subject } from "./subject.ts";

/** How many attachments the network has room for. */
const ROOM = 3;

/** A range set of each family, with room for three attachments. */
export const ranges = [
  [{ subnet: "10.0.0.0/24", rangeStart: "10.0.0.2", rangeEnd: "10.0.0.4" }],
  [{ subnet: "2001:db8::/64", rangeStart: "2001:db8::2", rangeEnd: "2001:db8::4" }],
];

/** The network `net` of a subject, in a data directory. */
export class DualStack {
  readonly subject: Subject;
  readonly directory: string;
  readonly #as: Pick<Call, "user">;

  /** @param as who calls; by default who runs the tests */
  constructor(subject: Subject, directory: string, as: Pick<Call, "user"> = {}) {
    this.subject = subject;
    this.directory = directory;
    this.#as = as;
  }

  /** The call of a runtime for one container. */
  call(command: "ADD" | "DEL" | "CHECK", containerId: string): Call {
    return {
      ...attachmentCall(command, { containerId }, this.#configuration({})),
      ...this.#as,
    };
  }

  do(command: "ADD" | "DEL" | "CHECK", containerId: string): Promise<Outcome> {
    return start(this.subject.path, this.call(command, containerId));
  }

  /** A call for the whole network; `rest` are members of its configuration besides `ipam`. */
  ask(command: "GC" | "STATUS", rest: JsonObject = {}): Promise<Outcome> {
    const call = networkCall(command, this.#configuration(rest));
    return start(this.subject.path, { ...call, ...this.#as });
  }

  /** What the reservations say: the content of each file that is named like an address. */
  reservations(): ReadonlyMap<string, string> {
    const directory = join(this.directory, "net");
    if (!existsSync(directory)) return new Map();
    const names = readdirSync(directory).filter((name) => /^(?:[0-9a-f]+[.:]|::)/.test(name));
    return new Map(names.map((name) => [name, contentOf(join(directory, name))]));
  }

  heldBy(containerId: string): string[] {
    return [...this.reservations()]
      .filter(([, content]) => content.split("\r\n")[0] === containerId)
      .map(([name]) => name)
      .sort();
  }

  #configuration(rest: JsonObject): JsonObject {
    const ipam = { ranges, lockTimeoutSeconds: LOCK_TIMEOUT };
    return configuration(this.directory, ipam, { cniVersion: this.subject.cniVersion, ...rest });
  }
}

/**
 * After a fault: every file is whole, others are served in time, a DEL frees all of the victim, and every address can be
 * handed out exactly once.
 *
 * @param network with `other` attached before the fault, and `victim` attached or not
 */
export async function verifyRecovery(network: DualStack, verifier: Verifier): Promise<void> {
  for (const [name, content] of network.reservations()) {
    const isWhole = /^(?:other|victim)\r\neth0$/.test(content);
    verifier.require(isWhole, "torn", `${name} says ${JSON.stringify(content)}`);
  }
  await mustWork(network, "ADD", "third", verifier);
  await mustWork(network, "DEL", "victim", verifier);
  verifier.require(network.heldBy("victim").length === 0, "leak", "DEL leaves the victim's");
  await mustWork(network, "DEL", "third", verifier);
  verifier.require(network.heldBy("other").length === 2, "double", "the other lost its address");

  const late = ["late-1", "late-2"];
  const granted: string[] = network.heldBy("other");
  for (const id of late) {
    const outcome = await network.do("ADD", id);
    const detail = `no address left for ${id}: ${outcome.stdout}`;
    verifier.require(outcome.exitCode === 0, "leak", detail);
    granted.push(...grantedAddresses(outcome));
  }
  verifier.require(new Set(granted).size === granted.length, "double", granted.join(" "));
  verifier.require(granted.length <= 2 * ROOM, "double", `${granted.length} for ${ROOM}`);
  const beyond = await network.do("ADD", "beyond");
  verifier.require(beyond.exitCode === 1, "double", `one more than there is: ${beyond.stdout}`);
  for (const id of ["other", ...late]) await mustWork(network, "DEL", id, verifier);
  verifier.require(network.reservations().size === 0, "leak", "files are left after all DELs");
}

/** A call that fails gives one error JSON that names the path and the cause. */
export function verifyError(
  { exitCode, stdout, stderr }: Outcome,
  directory: string,
  cause: string,
  verifier: Verifier,
): void {
  verifier.require(exitCode === 1, "crash", `exit code ${exitCode}: ${stderr.slice(0, 500)}`);
  const error = readError(stdout);
  const text = `${error?.msg} ${error?.details ?? ""}`;
  verifier.require(error !== undefined, "mute", `no error JSON: ${stdout} ${stderr}`);
  verifier.require(text.includes(directory), "mute", `no path: ${text}`);
  verifier.require(text.includes(cause), "mute", `the cause is not "${cause}": ${text}`);
}

/** Makes a call that must succeed. */
export async function mustWork(
  network: DualStack,
  command: "ADD" | "DEL",
  containerId: string,
  verifier: Verifier,
): Promise<void> {
  const { exitCode, stdout } = await network.do(command, containerId);
  verifier.require(exitCode === 0, "blocked", `${command} ${containerId}: ${stdout}`);
}

function contentOf(path: string): string {
  return lstatSync(path).isFile() ? readFileSync(path, "utf8") : "(no file)";
}
