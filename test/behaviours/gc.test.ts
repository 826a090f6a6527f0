// test: each executable, one if short, sees the node
/** GC frees what the runtime no longer lists (CNI SPEC 1.1.0, section 2, GC). */

import { behaviour, changesNothing, fails, succeeds } from "./behaviour.ts";

const newer = "cni.dev/valid-attachments";
const older = "cni.dev/attachments";

const c1 = { containerID: "c1", ifname: "eth0" };
const c2 = { containerID: "c2", ifname: "eth0" };

/** Files that any container can hold, in and outside the range, and below them files that are nobody's reservations. */
const files = {
  "198.51.100.2": "c1\r\neth0",
  "198.51.100.3": "c1\r\neth1",
  "198.51.100.4": "c2\r\neth0\n",
  "198.51.100.5": "c3",
  "203.0.113.9": "c4\r\neth0",
  "198.51.100.6": "",
  "198.51.100.8": "written by\nsomebody else",
  "last_reserved_ip.0": "198.51.100.5",
  "notes.txt": "c1\r\neth0",
  "sub/198.51.100.2": "c1\r\neth0",
  "198.51.100.10/": "",
  lock: "",
};

/** GC must see the node: it frees only addresses that it knows not to be in use. */
const needs = ["sees the node"] as const;

const owned = ["198.51.100.2", "198.51.100.3", "198.51.100.4", "198.51.100.5", "203.0.113.9"];
const nobodys = ["198.51.100.6", "198.51.100.8"];

behaviour(
  "GC keeps what is listed by container and interface, and leaves alone what is not a reservation",
  { needs },
  (t, network) => {
    network.machine.put("other/198.51.100.2", "c1\r\neth0");
    for (const [valid, kept] of [
      [[c1], ["198.51.100.2"]],
      // A reservation without an interface is kept with any attachment of its container.
      [
        [{ containerID: "c3", ifname: "net7" }, c2],
        ["198.51.100.4", "198.51.100.5"],
      ],
      [
        [
          { ...c1, containerID: "c" },
          { ...c1, containerID: "c10" },
        ],
        [],
      ],
      [[], []],
    ] as const) {
      for (const [name, content] of Object.entries(files)) network.put(name, content);
      network.age();
      const before = network.tree();

      succeeds(t, network.call("GC", "", { top: { [newer]: valid } }));

      t.same(network.reserved(), [...kept, ...nobodys].toSorted());
      const freed = owned.filter((address) => !network.reserved().includes(address));
      const left = before.filter(({ path }) => !freed.includes(path.replace("net/", "")));
      t.strictSame(network.tree(), left);
    }
  },
);

behaviour(
  "GC without a list frees nothing that is not proven dead, and says so in one line",
  { files },
  (t, network) => {
    network.age();
    const before = network.tree();
    for (const top of [{}, { ipam: null }, { [newer]: null, [older]: [c2] }]) {
      const { exitCode, stdout, stderr } = network.call("GC", "", { top });
      t.same([exitCode, stdout], [0, ""]);
      t.match(stderr, /^[^\n]*cni\.dev\/valid-attachments[^\n]*\n$/);
      t.strictSame(network.tree(), before);
    }
  },
);

behaviour(
  "GC with a malformed list, or without knowing where to look, is error 7, and frees nothing",
  { files },
  (t, network) => {
    changesNothing(t, network, () => {
      for (const top of [
        { [newer]: [c1, null] },
        { [older]: [c1, { containerID: "c2" }] },
        { [newer]: [], ipam: "x" },
        { [newer]: [], ipam: { dataDir: 5 } },
      ]) {
        fails(t, network.call("GC", "", { top }), 7);
      }
    });
  },
);

behaviour(
  "GC needs no ranges, for the runtime sends no runtimeConfig with it, and takes the older key",
  { ipam: { subnet: "garbage" }, files, needs },
  (t, network) => {
    network.age();
    succeeds(t, network.call("GC", "", { top: { [older]: [c2] } }));
    t.same(network.reserved(), ["198.51.100.4", ...nobodys]);
  },
);
