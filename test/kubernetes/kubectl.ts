/** kubectl for the cluster of a scenario. */

import { execFileSync } from "node:child_process";

/** The time limit for anything in the cluster. */
const patience = "--timeout=180s";

/**
 * Runs kubectl.
 *
 * @param words its arguments
 * @returns its standard output
 * @throws {Error} with its standard error if it fails
 */
export function kubectl(...words: readonly string[]): string {
  return run(words);
}

/**
 * Creates objects.
 *
 * @param objects the objects, in the form of their manifests
 */
export function create(objects: readonly object[]): void {
  const list = { apiVersion: "v1", kind: "List", items: objects };
  run(["create", "--filename=-"], JSON.stringify(list));
}

/**
 * Waits until objects are as they should be.
 *
 * @param condition what `kubectl wait --for` takes, such as `condition=Ready` or `delete`
 * @param objects the objects, such as `pod/web`
 * @throws {Error} if they are not within three minutes
 */
export function waitFor(condition: string, ...objects: readonly string[]): void {
  run(["wait", `--for=${condition}`, patience, ...objects]);
}

/**
 * The messages of the events about an object.
 *
 * @param name the object's name
 * @param reason the reason that they give
 */
export function eventsOf(name: string, reason: string): readonly string[] {
  const selector = `--field-selector=involvedObject.name=${name},reason=${reason}`;
  const { items }: { readonly items: readonly { readonly message: string }[] } = JSON.parse(
    run(["get", "events", "--output=json", selector]),
  );
  return items.map(({ message }) => message);
}

/** The event with which kubelet says that no address is left for a pod; undefined if there is none. */
export function refusalOf(pod: string): string | undefined {
  const messages = eventsOf(pod, "FailedCreatePodSandBox");
  return messages.find((message) => message.includes("no IP addresses available"));
}

function run(words: readonly string[], input = ""): string {
  return execFileSync("kubectl", words, {
    input,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["pipe", "pipe", "pipe"],
  });
}
