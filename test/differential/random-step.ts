/** Random steps in the life of a data directory. */

import type { Call } from "../harness/executable.ts";
import type { Random } from "../harness/random.ts";
import {
  attachmentCall,
  type Json,
  type JsonObject,
  networkCall,
  versionCall,
} from "../harness/runtime-call.ts";
import type { RandomConfiguration, RandomRange } from "./random-configuration.ts";
import { randomTampering } from "./random-tampering.ts";
import { callStep, containers, interfaces, ownedBy, type Situation, type Step } from "./step.ts";

/**
 * Chooses the next step.
 *
 * @param situation the facts on which the choice depends
 */
export function randomStep(situation: Situation): Step {
  const { random } = situation;
  const configuration = random.pick(situation.configurations);
  const roll = random.integer(100);
  if (roll < 45) {
    return callStep(add(situation, configuration));
  }
  if (roll < 68) {
    return callStep(del(situation, configuration));
  }
  if (roll < 78) {
    return callStep(check(situation, configuration));
  }
  if (roll < 84) {
    return callStep(forNetwork(situation, configuration));
  }
  return randomTampering(situation, configuration);
}

function attachment({ random }: Situation) {
  return {
    containerId: random.pick(containers),
    interfaceName: random.pick(interfaces),
    netns: random.pick(["/no/such/netns", "/etc/passwd", "/"]),
    cniArgs: random.pick(["", "", "", "IgnoreUnknown=1;K8S_POD_NAME=p;K8S_POD_NAMESPACE=n"]),
  };
}

/** A container, which mostly is one that holds an address. */
function holder(situation: Situation) {
  const { random, tree } = situation;
  const anybody = attachment(situation);
  const owners = tree.flatMap(({ content }) => {
    const [containerId = "", interfaceName] = content?.trim().split("\r\n") ?? [];
    return containers.includes(containerId) ? [{ containerId, interfaceName }] : [];
  });
  if (owners.length === 0 || random.chance(30)) {
    return anybody;
  }
  const { containerId, interfaceName = anybody.interfaceName } = random.pick(owners);
  return { ...anybody, containerId, interfaceName };
}

function add(situation: Situation, configuration: RandomConfiguration): Call {
  const { document } = configuration;
  const attached = attachment(situation);
  if (!situation.random.chance(25)) {
    return attachmentCall("ADD", attached, document);
  }
  const requested = requestedAddresses(situation, configuration);
  const [first = "", ...others] = requested;
  switch (situation.random.integer(3)) {
    case 0:
      return attachmentCall(
        "ADD",
        { ...attached, cniArgs: `IgnoreUnknown=1;IP=${first}` },
        others.length === 0 ? document : withIPs(document, "args", others),
      );
    case 1:
      return attachmentCall("ADD", attached, withIPs(document, "args", requested));
    default:
      return attachmentCall("ADD", attached, withIPs(document, "runtimeConfig", requested));
  }
}

/** The document with requested addresses, beside its present members in that place. */
function withIPs(document: JsonObject, place: "args" | "runtimeConfig", ips: Json): JsonObject {
  if (place === "args") {
    return { ...document, args: { cni: { ips } } };
  }
  const { runtimeConfig } = document;
  const held =
    typeof runtimeConfig === "object" && !Array.isArray(runtimeConfig) ? runtimeConfig : {};
  return { ...document, runtimeConfig: { ...held, ips } };
}

/**
 * Either any one address, or one within every set: of several addresses in one set the Go plugin takes a random one. See
 * "Several requested addresses are taken in their order" in blackbox/differences.ts.
 */
function requestedAddresses(
  { random, tree }: Situation,
  { sets }: RandomConfiguration,
): readonly string[] {
  if (random.chance(30)) {
    return sets.map((set) => written(random, random.pick(set), true));
  }
  const range = random.pick(random.pick(sets));
  const reserved = tree.flatMap(
    ({ path }) => /[^/]*\.\d+\.\d+\.\d+$|[^/]*:[^/]*$/.exec(path) ?? [],
  );
  return [
    reserved.length > 0 && random.chance(30)
      ? random.pick(reserved)
      : written(random, range, random.chance(70)),
  ];
}

function written(random: Random, range: RandomRange, inside: boolean): string {
  const width = Math.min(range.last - range.first + 1, 12);
  const offset = inside && width > 0 ? range.first + random.integer(width) : random.integer(16);
  const address = range.addressAt(offset);
  if (range.family === 4 && random.chance(10)) {
    return `::ffff:${address}`;
  }
  return random.chance(20) ? `${address}/${range.family === 4 ? 24 : 64}` : address;
}

function del(situation: Situation, configuration: RandomConfiguration): Call {
  const attached = holder(situation);
  const held = ownedBy(situation.tree, attached.containerId, attached.interfaceName);
  // See "DEL falls back to reservations without an interface name once per call" in
  // blackbox/differences.ts: two sets would free more there.
  if (configuration.sets.length > 1 && held.exact.length > 0 && held.legacy.length > 0) {
    return attachmentCall("CHECK", attached, configuration.document);
  }
  return attachmentCall("DEL", { ...attached, netns: "" }, configuration.document);
}

function check(situation: Situation, { document }: RandomConfiguration): Call {
  const { random } = situation;
  // CHECK of older versions is always the same error.
  const version = random.chance(70) ? { cniVersion: random.pick(["0.4.0", "1.0.0"]) } : {};
  return attachmentCall("CHECK", holder(situation), { ...document, ...version });
}

/**
 * GC without a list, STATUS without ranges, or VERSION: the rest of GC and STATUS differs by decision. See "GC frees addresses
 * of attachments that no longer exist" and "STATUS says when no address can ever be handed out" in blackbox/differences.ts.
 */
function forNetwork({ random }: Situation, { document }: RandomConfiguration): Call {
  const bare = { ...document, ipam: { type: "host-local", dataDir: "@D@" } };
  switch (random.integer(3)) {
    case 0:
      return networkCall("GC", bare);
    case 1:
      return networkCall("STATUS", bare);
    default:
      return versionCall();
  }
}
