/** The file that `ipam.resolvConf` names: its content becomes the `dns` of a result. */

import { internalError } from "../cni/error.ts";
import type { ResultDns } from "../cni/result.ts";
import { NO_DNS, parseResolvConf } from "../ipam/resolv-conf.ts";
import { LARGEST_FILE, recover, type System } from "../system/system.ts";

/**
 * Reads the DNS settings of a network.
 *
 * @param path the value of `ipam.resolvConf`; empty where it is absent
 * @throws CniError 999 with the Go plugin's message where the file cannot be read; the details name the key
 */
export function readResolvConf(files: Pick<System, "readFile">, path: string): ResultDns {
  if (path === "") return NO_DNS;
  const read = (): string => files.readFile(path, LARGEST_FILE);
  const text = recover(read, ({ message }) => {
    throw internalError(message, "expected a resolv.conf at the path in ipam.resolvConf");
  });
  return parseResolvConf(text);
}
