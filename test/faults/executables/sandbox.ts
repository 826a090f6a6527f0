/** A directory in which a plugin works, with things beside the data directory that it must not touch. */

import { lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type PriorFile,
  populate,
  scratchDirectory,
  treeOf,
} from "../../harness/data-directory.ts";
import type { Verifier } from "../../harness/violations.ts";
import type { Context } from "./scenario.ts";

/** What a network name and the plugin's own directory may be called; nothing else may stand in a data directory. */
const networkDirectory = /^(?:\.host-local|[a-zA-Z0-9][a-zA-Z0-9_.-]*)$/;

/** What the data directory holds beforehand. */
const earlier: readonly PriorFile[] = [
  { path: "net/10.0.0.2", content: "c1\r\neth0" },
  { path: "net/10.0.0.3", content: "c2\r\neth0" },
  { path: "net/10.0.0.5", content: "c3" },
  { path: "net/2001:db8::2", content: "c1\r\neth0" },
  { path: "net/last_reserved_ip.0", content: "10.0.0.3" },
  { path: "resolv.conf", content: "nameserver 192.0.2.53\nsearch a.example\n" },
];

/** What lies beside it. */
const beside: readonly PriorFile[] = [
  { path: "sentinel", content: "beside the data directory" },
  { path: "net/10.0.0.2", content: "c1\r\neth0" },
  { path: "elsewhere/net/10.0.0.2", content: "c1\r\neth0" },
  { path: "resolv.conf", content: "nameserver 192.0.2.53\nsearch a.example\n" },
];

/** A working directory with the data directory `data`. */
export class Sandbox {
  readonly directory: string;
  readonly #untouched: readonly unknown[];

  constructor(context: Pick<Context, "teardown">) {
    const root = scratchDirectory(context);
    // `..` leads to a directory with content, too.
    this.directory = join(root, "work");
    mkdirSync(this.directory);
    populate(root, [{ path: "sentinel", content: "above" }]);
    populate(this.directory, beside);
    populate(join(this.directory, "data"), earlier);
    this.#untouched = this.#outside();
  }

  /** Notes as a violation whatever appeared, changed or went outside the data directory. */
  mustBeKept(verifier: Verifier): void {
    const now = this.#outside();
    const detail = `outside dataDir: ${JSON.stringify(now)}`;
    verifier.require(isDeepStrictEqual(now, this.#untouched), "escaped", detail);
    const strange = readdirSync(join(this.directory, "data")).filter(
      (name) => !networkDirectory.test(name),
    );
    verifier.require(strange.length === 0, "escaped", `in dataDir: ${strange}`);
  }

  #outside(): readonly unknown[] {
    const above = join(this.directory, "..");
    const own = readdirSync(this.directory).filter((name) => name !== "data");
    const up = readdirSync(above).filter((name) => name !== "work");
    const tree = treeOf(this.directory).filter(({ path }) => !path.startsWith("data/"));
    return [up, own.sort(), tree, lstatSync(join(above, "sentinel")).size];
  }
}
