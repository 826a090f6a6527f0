/** The number of pods as a feature of the node, for node-feature-discovery. */

/**
 * A file for its source `local`. The number becomes a feature that a rule may use, and no label; each directive applies
 * to what follows it.
 *
 * @param name the feature, such as `example.com/pod-ips`
 * @param expires when it ceases to count, in milliseconds since the epoch
 */
export function featureFile(name: string, pods: bigint, expires: number): string {
  const time = new Date(expires).toISOString();
  return `# Written by host-local.\n# +expiry-time=${time}\n# +no-label\n${name}=${pods}\n`;
}
