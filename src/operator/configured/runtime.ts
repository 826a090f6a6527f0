/** A container runtime that reads network configurations, and starts plugins, in directories that its own configuration names. */

/** What the configuration of a runtime says of CNI. */
export interface Runtime {
  /** Its name, such as `containerd`, or that of the distribution that brings its own, such as `k3s`. */
  readonly name: string;
  /** The directory whose first configuration is the network of its pods. */
  readonly configurations: string;
  /** The network that it uses in place of the first; `undefined` where it names none. */
  readonly network: string | undefined;
  /**
   * The directories in which it looks for a plugin, one after the other; `undefined` where they are not said: which are built in,
   * distributions decide.
   */
  readonly plugins: readonly string[] | undefined;
}

/** The directory that all runtimes have built in. */
export const BUILT_IN_CONFIGURATIONS = "/etc/cni/net.d";

/** Which directories runtimes read, as a clause, such as `containerd reads /etc/cni/net.d`. */
export function describeReaders(runtimes: readonly Runtime[]): string {
  return runtimes.map(({ name, configurations }) => `${name} reads ${configurations}`).join(", ");
}
