/** A directory in which a plugin works, with files beside the data directory that it must not touch. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type PriorFile, populate, scratchDirectory } from "../../harness/data-directory.ts";
import type { Verifier } from "../../harness/violations.ts";
import { changesBetween, stateOf } from "./disk-state.ts";
import type { Context } from "./scenario.ts";

/** The names of networks and of the plugin's own directory; nothing else may be in a data directory. */
const networkDirectory = /^(?:\.host-local|[a-zA-Z0-9][a-zA-Z0-9_.-]*)$/;

/** The files of the data directory beforehand. */
const earlier: readonly PriorFile[] = [
  { path: "net/198.18.0.2", content: "c1\r\neth0" },
  { path: "net/198.18.0.3", content: "c2\r\neth0" },
  { path: "net/198.18.0.5", content: "c3" },
  { path: "net/2001:db8::2", content: "c1\r\neth0" },
  { path: "net/last_reserved_ip.0", content: "198.18.0.3" },
  { path: "resolv.conf", content: "nameserver 192.0.2.53\nsearch a.example\n" },
];

/** The files beside the data directory. */
const beside: readonly PriorFile[] = [
  { path: "sentinel", content: "beside the data directory" },
  { path: "net/198.18.0.2", content: "c1\r\neth0" },
  { path: "elsewhere/net/198.18.0.2", content: "c1\r\neth0" },
  { path: "resolv.conf", content: "nameserver 192.0.2.53\nsearch a.example\n" },
];

/** A working directory with the data directory `data`. */
export class Sandbox {
  readonly directory: string;
  readonly #root: string;
  readonly #untouched: readonly string[];

  constructor(context: Pick<Context, "teardown">) {
    this.#root = scratchDirectory(context);
    // `..` leads to a directory with content, too.
    this.directory = join(this.#root, "work");
    populate(this.#root, [{ path: "sentinel", content: "above" }]);
    populate(this.directory, beside);
    populate(join(this.directory, "data"), earlier);
    this.#untouched = this.#outside();
  }

  /** Requires that nothing has appeared, changed or gone outside the data directory. */
  mustBeKept(verifier: Verifier): void {
    const changes = changesBetween(this.#untouched, this.#outside());
    verifier.require(changes === "", "escaped", `outside dataDir: ${changes}`);
    const strange = readdirSync(join(this.directory, "data")).filter(
      (name) => !networkDirectory.test(name),
    );
    verifier.require(strange.length === 0, "escaped", `in dataDir: ${strange}`);
  }

  #outside(): readonly string[] {
    const inside = join(this.directory, "data/");
    return stateOf(this.#root).filter((line) => !line.startsWith(inside));
  }
}
