/** The part of crictl that printed commands use, over the socket of containerd. */

import { socket } from "../clients/containerd.ts";
import { RuntimeService } from "../clients/cri.ts";

/**
 * Runs `crictl pods -q`, `crictl stopp ID` or `crictl rmp ID`.
 *
 * @param words the words after `crictl`
 * @throws {Error} with the runtime's message, or if the command is another one
 */
export async function crictl(words: readonly string[]): Promise<void> {
  const runtime = new RuntimeService(socket);
  const [verb, word = ""] = words;
  if (verb === "pods" && word === "-q") {
    for (const id of await runtime.sandboxIds()) console.log(id);
  } else if (verb === "stopp") {
    await runtime.stopPodSandbox(word);
  } else if (verb === "rmp") {
    await runtime.removePodSandbox(word);
  } else {
    throw new Error(`crictl here does not know: ${words.join(" ")}`);
  }
}
