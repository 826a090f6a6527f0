/** Random calls with one fault each. */

import { attachmentCall, type JsonObject } from "../harness/runtime-call.ts";
import type { RandomConfiguration } from "./random-configuration.ts";
import { type CallStep, callStep, type Situation } from "./step.ts";

const badVariables: readonly Readonly<Record<string, string>>[] = [
  { CNI_CONTAINERID: "" },
  { CNI_CONTAINERID: "a/b" },
  { CNI_CONTAINERID: ".c" },
  { CNI_CONTAINERID: "é" },
  { CNI_IFNAME: "" },
  { CNI_IFNAME: "0123456789abcdef" },
  { CNI_IFNAME: "a:b" },
  { CNI_IFNAME: "a\u0085b" },
  { CNI_IFNAME: ".." },
  { CNI_NETNS: "", CNI_PATH: "" },
  { CNI_COMMAND: "NOPE" },
  { CNI_ARGS: "IP=garbage" },
  { CNI_ARGS: "IP" },
  { CNI_ARGS: "A=b;IP=10.0.0.3" },
  { CNI_ARGS: "IgnoreUnknown=perhaps" },
];

const badMembers: readonly JsonObject[] = [
  { name: "a/b" },
  { name: null },
  { name: 5 },
  { cniVersion: 5 },
  { ipam: null },
  { ipam: "x" },
  { args: "x" },
  { args: { cni: { ips: ["garbage"] } } },
  { args: { cni: { ips: [""] } } },
  { runtimeConfig: { ips: ["10.0.0.3/33"] } },
  { runtimeConfig: { ipRanges: [[]] } },
  { runtimeConfig: { ipRanges: [[{ subnet: "10.0.0.1/30" }]] } },
];

const badIpam: readonly JsonObject[] = [
  { subnet: "" },
  { subnet: "10.0.0.0/33" },
  { subnet: "10.0.0.1/24" },
  { subnet: "::ffff:10.0.0.0/104" },
  { subnet: "2001:db8::1/126" },
  { rangeStart: "garbage", subnet: "10.0.0.0/24" },
  { rangeStart: "10.0.1.0", subnet: "10.0.0.0/24" },
  { rangeStart: "10.0.0.9", rangeEnd: "10.0.0.8", subnet: "10.0.0.0/24" },
  { rangeEnd: "10.0.0.0", subnet: "10.0.0.0/24" },
  { gateway: "10.0.0", subnet: "10.0.0.0/24" },
  { ranges: "x" },
  { ranges: [null] },
  { ranges: [[{}]] },
  { routes: [{ dst: "garbage" }] },
  { routes: [{ dst: "0.0.0.0/0", gw: "garbage" }] },
  { resolvConf: "@D@/no/such/file" },
  { resolvConf: "@D@" },
  { dataDir: "@D@/resolv.conf" },
];

const badTexts = [
  "",
  "hello",
  '{"name":"net"',
  '{"name":"net",}',
  "[]",
  "null",
  "\ufeff{}",
  '{"a":01}',
];

/**
 * Chooses a call with one fault, so that the order in which faults are looked for does not matter.
 *
 * @param situation what the choice depends on
 * @param configuration the configuration to spoil
 */
export function randomBadInput({ random }: Situation, { document }: RandomConfiguration): CallStep {
  // See "DEL frees addresses whatever else the configuration says": no DEL with bad input.
  const command = random.pick(["ADD", "ADD", "CHECK"] as const);
  const valid = {
    ...document,
    cniVersion: "1.0.0",
    ipam: { type: "host-local", dataDir: "@D@", subnet: "10.200.0.0/24" },
  };
  const made = (top: JsonObject) => callStep(attachmentCall(command, { containerId: "bad" }, top));
  switch (random.integer(4)) {
    case 0: {
      const { call: good } = made(valid);
      const environment = { ...good.environment, ...random.pick(badVariables) };
      return { kind: "call", call: { ...good, environment } };
    }
    case 1:
      return made({ ...valid, ...random.pick(badMembers) });
    case 2: {
      return made({ ...valid, ipam: { ...valid.ipam, ...random.pick(badIpam) } });
    }
    default: {
      const { call: good } = made(valid);
      return { kind: "call", call: { ...good, stdin: random.pick(badTexts) } };
    }
  }
}
