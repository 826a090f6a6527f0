// test: each executable, one if short
/** GC frees what the runtime no longer lists (CNI SPEC 1.1.0, section 2, GC). */

import { behaviour, changesNothing, fails, succeeds } from "./behaviour.ts";

const newer = "cni.dev/valid-attachments";
const older = "cni.dev/attachments";

const c1 = { containerID: "c1", ifname: "eth0" };
const c2 = { containerID: "c2", ifname: "eth0" };

/** What any container can hold, in and outside the range, and below it what is nobody's reservation. */
const files = {
  "10.0.0.2": "c1\r\neth0",
  "10.0.0.3": "c1\r\neth1",
  "10.0.0.4": "c2\r\neth0\n",
  "10.0.0.5": "c3",
  "10.9.9.9": "c4\r\neth0",
  "10.0.0.6": "",
  "10.0.0.8": "written by\nsomebody else",
  "last_reserved_ip.0": "10.0.0.5",
  "notes.txt": "c1\r\neth0",
  "sub/10.0.0.2": "c1\r\neth0",
  "10.0.0.10/": "",
  lock: "",
};

const nobodys = ["10.0.0.6", "10.0.0.8"];

for (const [what, top, kept] of [
  ["keeps what is listed, by container and interface", { [newer]: [c1] }, ["10.0.0.2"]],
  ["keeps several", { [newer]: [c2, c1] }, ["10.0.0.2", "10.0.0.4"]],
  [
    "keeps a file without an interface whose container is listed with any",
    { [newer]: [{ containerID: "c3", ifname: "net7" }] },
    ["10.0.0.5"],
  ],
  ["keeps nothing with an empty list", { [newer]: [] }, []],
  [
    "does not confuse ids with the same beginning",
    {
      [newer]: [
        { ...c1, containerID: "c" },
        { ...c1, containerID: "c10" },
      ],
    },
    [],
  ],
  ["takes the older key where the newer is absent", { [older]: [c2] }, ["10.0.0.4"]],
  ["takes the newer key where both are there", { [newer]: [c1], [older]: [c2] }, ["10.0.0.2"]],
] as const) {
  behaviour(`GC ${what}, and leaves alone what is not a reservation`, { files }, (t, network) => {
    network.machine.put("other/10.0.0.2", "c1\r\neth0");
    network.age();
    const before = network.tree();
    const owned = ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.9.9.9"];

    succeeds(t, network.call("GC", "", { top }));

    t.same(network.reserved(), [...kept, ...nobodys].toSorted());
    const freed = owned.filter((address) => !network.reserved().includes(address));
    const left = before.filter(({ path }) => !freed.includes(path.replace("net/", "")));
    t.strictSame(network.tree(), left);
  });
}

behaviour(
  "GC without a list frees nothing that is not proven dead, and says so in one line",
  { files },
  (t, network) => {
    network.age();
    const before = network.tree();
    for (const top of [
      {},
      { ipam: null },
      { [newer]: null },
      { [older]: null },
      { [newer]: null, [older]: [c2] },
    ]) {
      const { exitCode, stdout, stderr } = network.call("GC", "", { top });
      t.same([exitCode, stdout], [0, ""]);
      t.match(stderr, /^[^\n]*cni\.dev\/valid-attachments[^\n]*\n$/);
      t.strictSame(network.tree(), before);
    }
  },
);

for (const [what, top] of [
  ["a string for a list", { [newer]: "c1" }],
  ["a list with null", { [newer]: [c1, null] }],
  ["an entry without an interface", { [older]: [c1, { containerID: "c2" }] }],
  ["an ipam section that is a string", { [newer]: [], ipam: "x" }],
  ["an ipam section that is a list", { [newer]: [], ipam: [] }],
  ["an ipam section that is null", { [newer]: [], ipam: null }],
  ["a data directory that is a number", { [newer]: [], ipam: { dataDir: 5 } }],
] as const) {
  behaviour(`GC with ${what} is error 7, and frees nothing`, { files }, (t, network) => {
    changesNothing(t, network, () => fails(t, network.call("GC", "", { top }), 7));
  });
}

for (const ipam of [{}, { subnet: "garbage" }, { subnet: "10.77.0.0/24" }]) {
  behaviour(
    `GC needs no ranges, for the runtime sends no runtimeConfig with it: ${JSON.stringify(ipam)}`,
    { ipam, files },
    (t, network) => {
      succeeds(t, network.gc(["c2 eth0"]));
      t.same(network.reserved(), ["10.0.0.4", ...nobodys]);
    },
  );
}

behaviour("GC lets CHECK pass and DEL free what is listed", {}, (t, network) => {
  network.add("c1");
  network.add("c2");

  succeeds(t, network.gc(["c1 eth0"]));

  succeeds(t, network.check("c1"));
  t.equal(network.check("c2").exitCode, 1);
  succeeds(t, network.del("c1"));
  t.same(network.reserved(), []);
});
