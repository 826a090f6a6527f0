import { test } from "tap";
import { loadConfig } from "../../src/configuration/load-config.ts";
import { formatRangeSet } from "../../src/ipam/range-set.ts";
import { refusalOf } from "../cni/refusal.ts";
import { noFiles, received } from "./network-configuration.ts";

const flannel = `FLANNEL_NETWORK=10.244.0.0/16
FLANNEL_SUBNET=10.244.7.1/24
FLANNEL_IPV6_NETWORK=fd00:10:244::/48
FLANNEL_IPV6_SUBNET=fd00:10:244:300::1/56
`;

const fromFlannel = { subnetFile: "/run/flannel/subnet.env" };
const fromNetwork = { network: "containerd", clusterCidr: "10.244.0.0/16" };

/** In place of the text of a file. */
const UNREADABLE = "unreadable";

/** The part of 192.168.0.0/20, of a node that has these files. */
function partFor(
  partition: unknown,
  texts: Readonly<Record<string, string>>,
  ranges: readonly object[] = [[{ subnet: "192.168.0.0/20" }]],
): string {
  const files = {
    readFile(path: string): string {
      const text = texts[path];
      if (text === UNREADABLE) throw new Error(`open ${path}: input/output error`);
      if (text === undefined) throw new Error(`open ${path}: no such file or directory`);
      return text;
    },
    list: (path: string) =>
      Object.keys(texts)
        .filter((name) => name.startsWith(`${path}/`))
        .map((name) => name.slice(path.length + 1))
        .reverse(),
  };
  const ipam = { partition: { ranges, ...Object(partition) } };
  return loadConfig(received({ ipam, cniVersion: "1.0.0" }), "", files)
    .rangeSets.map(formatRangeSet)
    .join(" ");
}

/** What is said where there is no part. */
function refusalFor(
  partition: unknown,
  texts: Readonly<Record<string, string>> = {},
  ranges?: readonly object[],
): string {
  const { message, details } = refusalOf(() => partFor(partition, texts, ranges));
  return `${message}; ${details}`;
}

test("flannel's subnet.env has both numbers; those of IPv4 count where it has both families", async (t) => {
  const own = (text: string, settings: object = {}): string =>
    partFor({ ...fromFlannel, ...settings }, { [fromFlannel.subnetFile]: text });
  const seventh = "192.168.0.112-192.168.0.127";
  t.equal(own(flannel), seventh);
  const lines = flannel.split("\n");
  t.equal(own(lines.slice(2).join("\n")), "192.168.0.48-192.168.0.63", "IPv6 alone");
  t.equal(own(flannel, { clusterCidr: "fd00:10:244::/48" }), "192.168.0.48-192.168.0.63");
  t.equal(own(flannel, { clusterCidr: "10.244.0.0/15" }), "192.168.0.56-192.168.0.63");
  t.equal(own(lines.slice(1).join("\n"), { clusterCidr: "10.244.0.0/16" }), seventh);
});

test("each range of each set is divided, and one of which nothing is left is named", async (t) => {
  const files = { "/run/flannel/subnet.env": flannel };
  const small = { subnet: "10.9.0.0/30" };
  const set = [{ subnet: "192.168.0.0/20" }, { subnet: "192.168.16.0/20" }];
  t.equal(
    partFor(fromFlannel, files, [set, [{ subnet: "fd00:1::/112" }]]),
    "192.168.0.112-192.168.0.127,192.168.16.112-192.168.16.127 fd00:1::700-fd00:1::7ff",
  );
  t.match(
    refusalFor(fromFlannel, files, [[...set, small]]),
    /^no address of range 10\.9\.0\.1-10\.9\.0\.2 for this node; .* ipam\.partition\.ranges\[0\]\[2\]/,
  );
});

test("a network named in a list or a delegate of multus: every subnet is looked at", async (t) => {
  const list = (subnet: string): object => ({
    name: "containerd",
    plugins: [
      { type: "loopback" },
      { type: "ptp", ipam: { ranges: [[{ subnet }], [{ subnet: "fd00:10:244:3::/64" }]] } },
    ],
  });
  const other = { name: "other", ipam: { subnet: "10.244.9.0/24" } };
  const own = (files: Readonly<Record<string, object>>, settings: object = {}): string => {
    const texts = Object.entries(files).map(([path, file]) => [path, JSON.stringify(file)]);
    return partFor({ ...fromNetwork, ...settings }, Object.fromEntries(texts));
  };
  const seventh = "192.168.0.112-192.168.0.127";
  const containerd = list("10.244.7.0/24");
  const directory = "/etc/cni/net.d";
  t.equal(own({ [`${directory}/10-containerd-net.conflist`]: containerd }), seventh);
  t.equal(
    own({
      [`${directory}/10-other.conf`]: other,
      [`${directory}/20-multus.conf`]: { name: "multus", delegates: [other, containerd] },
      [`${directory}/30-containerd.conf`]: containerd,
      [`${directory}/00-containerd.bak`]: list("10.244.8.0/24"),
    }),
    seventh,
    "several files with the same podCIDR",
  );
  const plain = { name: "containerd", ipam: { subnet: "10.244.7.0/24" } };
  t.equal(own({ "/net.d/a.json": plain }, { confDir: "/net.d" }), seventh);
  const ipv6 = { clusterCidr: "fd00:10:244::/56" };
  t.equal(own({ [`${directory}/a.conf`]: containerd }, ipv6), "192.168.0.48-192.168.0.63");
});

test("where no podCIDR can be told there is an error, and never the whole range", async (t) => {
  const path = fromFlannel.subnetFile;
  t.match(
    refusalFor(fromFlannel),
    `cannot read the podCIDR of this node: open ${path}: no such file or directory; expected {"subnetFile"`,
  );
  for (const [text, words] of [
    ["", `no podCIDR of this node in ${path}; neither FLANNEL_SUBNET nor`],
    [
      "FLANNEL_SUBNET=10.244.7.1/24\n",
      `no cluster CIDR in ${path}; found 0 networks of flannel for FLANNEL_SUBNET`,
    ],
    [flannel.replace("/16", "/16,10.245.0.0/16"), "found 2 networks of flannel"],
    [
      flannel.replace("10.244.7.1/24", "10.244.0.1/16"),
      `no podCIDR of this node in ${path}; found 10.244.0.0/16, fd00:10:244:300::/56; expected one smaller network in the cluster CIDR 10.244.0.0/16`,
    ],
  ] as const) {
    t.match(refusalFor(fromFlannel, { [path]: text }), words);
  }

  const file = "/etc/cni/net.d/a.conf";
  const network = (...subnets: readonly string[]): string =>
    JSON.stringify({
      name: "containerd",
      ipam: { ranges: [subnets.map((subnet) => ({ subnet }))] },
    });
  for (const [text, words] of [
    [
      network(),
      "no network containerd with a subnet in /etc/cni/net.d; expected the network whose",
    ],
    ["{", `cannot read the podCIDR of this node: ${file}: unexpected end of JSON input`],
    [network("10.245.7.0/24"), `no podCIDR of this node in ${file}; found 10.245.7.0/24; expected`],
    [
      network("10.244.7.0/24", "10.244.8.0/24"),
      `more than one podCIDR of this node in ${file}; found 10.244.`,
    ],
  ] as const) {
    t.match(refusalFor(fromNetwork, { [file]: text }), words);
  }
  const later = { [file]: network("10.244.7.0/24") };
  t.match(
    refusalFor(fromNetwork, { ...later, "/etc/cni/net.d/00.conf": UNREADABLE }),
    "cannot read the podCIDR of this node: open /etc/cni/net.d/00.conf: input/output error",
    "it may be the one",
  );
  t.match(
    refusalFor(fromNetwork, { ...later, "/etc/cni/net.d/00.conf": later[file].slice(0, 40) }),
    "cannot read the podCIDR of this node: /etc/cni/net.d/00.conf: unexpected end of JSON input",
    "so may what is cut off",
  );
  t.match(
    refusalFor(fromNetwork, { ...later, "/etc/cni/net.d/00.conf": network("10.244.8.0/24") }),
    "more than one podCIDR of this node in /etc/cni/net.d; found 10.244.8.0/24, 10.244.7.0/24;",
    "a copy that is out of date",
  );
  t.match(
    refusalFor({ ...fromFlannel, clusterCidr: "10.0.0.0/8" }, { [path]: flannel }),
    "no address of range 192.168.0.1-192.168.15.254 for this node",
  );
});

test("the key names one of the two, and a network with its cluster CIDR", async (t) => {
  for (const [partition, words] of [
    [null, "json: cannot unmarshal null into ipam.partition: expected {"],
    [true, "json: cannot unmarshal bool into ipam.partition: expected {"],
    [{}, 'invalid partition; expected {"subnetFile": '],
    [{ network: "containerd" }, "invalid partition; "],
    [{ ...fromFlannel, ...fromNetwork }, "invalid partition; "],
    [{ ...fromFlannel, confDir: "/net.d" }, "invalid partition; "],
    [
      { subnetFile: "subnet.env" },
      "invalid partition.subnetFile: subnet.env; expected an absolute",
    ],
    [{ ...fromNetwork, confDir: "net.d" }, "invalid partition.confDir: net.d; "],
    [{ ...fromNetwork, clusterCidr: "10.244.0.0" }, "invalid CIDR address: 10.244.0.0; "],
    [{ ...fromNetwork, network: 1 }, "cannot unmarshal number into ipam.partition.network"],
  ] as const) {
    const refusal = refusalOf(() => loadConfig(received({ ipam: { partition } }), "", noFiles));
    t.match(`${refusal.message}; ${refusal.details}`, words);
  }
});
