/** A network whose calls are cut off where they hang, and what is on its disk. */

import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scratchDirectory } from "../../harness/data-directory.ts";
import type { Call } from "../../harness/executable.ts";
import {
  attachmentCall,
  configuration,
  type JsonObject,
  networkCall,
} from "../../harness/runtime-call.ts";
import { ranges } from "./dual-stack.ts";
import { type Ending, RunningCall } from "./running-call.ts";
import type { Context } from "./scenario.ts";
import { LOCK_TIMEOUT, type Subject } from "./subject.ts";

export type Verb = "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";

/** What differs from a network for three, with a range set of each family. */
export interface Differences {
  readonly ipam?: JsonObject;
  /** The user number to run as. */
  readonly user?: number;
  /** The data directory, if not an empty one that is gone after the scenario. */
  readonly directory?: string;
  /** What runs the executables, with its options. */
  readonly under?: readonly string[];
}

/** What differs from call to call. */
export interface CallDifferences {
  readonly ipam?: JsonObject;
  /** The executable that is called, if not the network's own. */
  readonly subject?: Subject;
}

/** A short timeout for the lock, in seconds. */
export const SHORT_TIMEOUT = 0.3;

/** No reservation of the calls here is longer, in bytes. */
const LONGEST_CONTENT = 100;

/** The network `net`, in a data directory of its own. */
export class WatchedNetwork {
  readonly subject: Subject;
  /** The data directory. */
  readonly directory: string;
  readonly #teardown: Context["teardown"];
  readonly #ipam: JsonObject;
  readonly #user: number | undefined;
  readonly #under: readonly string[];
  #hanging: Ending | undefined;

  constructor(
    { subject, teardown }: Pick<Context, "subject" | "teardown">,
    { ipam = {}, user, under = [], directory = scratchDirectory({ teardown }) }: Differences = {},
  ) {
    this.subject = subject;
    this.directory = directory;
    this.#teardown = teardown;
    this.#ipam = {
      ranges,
      exhaustedStatus: "unavailable",
      lockTimeoutSeconds: LOCK_TIMEOUT,
      ...ipam,
    };
    this.#user = user;
    this.#under = under;
    mkdirSync(this.path(""), { recursive: true });
  }

  /** A path in the network's directory. */
  path(name: string): string {
    return join(this.directory, "net", name);
  }

  /** A path in the directory that the Go plugin does not know. */
  ownPath(name: string): string {
    return join(this.directory, ".host-local/net", name);
  }

  /** The call of a runtime; GC is with an empty list. */
  call(
    verb: Verb,
    containerId: string,
    { ipam = {}, subject = this.subject }: CallDifferences = {},
  ): Call {
    const document = configuration(
      this.directory,
      { ...this.#ipam, ...ipam },
      {
        cniVersion: subject.cniVersion,
        ...(verb === "GC" ? { "cni.dev/valid-attachments": [] } : {}),
      },
    );
    const call =
      verb === "GC" || verb === "STATUS"
        ? networkCall(verb, document)
        : attachmentCall(verb, { containerId }, document);
    return this.#user === undefined ? call : { ...call, user: this.#user };
  }

  /** Starts a call, which is killed after `limit` seconds. */
  begin(
    verb: Verb,
    containerId: string,
    limit: number,
    differences: CallDifferences = {},
  ): RunningCall {
    const launch = { teardown: this.#teardown, limit: limit * 1000, under: this.#under };
    const { path } = differences.subject ?? this.subject;
    return new RunningCall(path, this.call(verb, containerId, differences), launch);
  }

  /** The end of a call. One that hung is not asked again: the answer would be the same, and take as long. */
  async do(verb: Verb, containerId = "", differences: CallDifferences = {}): Promise<Ending> {
    if (this.#hanging !== undefined) return this.#hanging;
    const limit = 2 * LOCK_TIMEOUT;
    const ending = await this.begin(verb, containerId, limit, differences).ended;
    if (ending.isCutOff) this.#hanging = ending;
    return ending;
  }

  /** The names of everything that is named like an address. */
  reserved(): string[] {
    return readdirSync(this.path("")).filter((name) => /^[0-9a-f]*[.:]/.test(name));
  }

  /** The addresses whose files name a container. */
  heldBy(containerId: string): string[] {
    return this.reserved()
      .filter((name) => this.#ownerOf(name) === containerId)
      .sort();
  }

  /** `undefined` also where it was released just now. */
  #ownerOf(name: string): string | undefined {
    const found = lstatSync(this.path(name), { throwIfNoEntry: false });
    if (found === undefined || !found.isFile() || found.size > LONGEST_CONTENT) return undefined;
    try {
      return readFileSync(this.path(name), "utf8").split("\r\n")[0];
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  }
}
