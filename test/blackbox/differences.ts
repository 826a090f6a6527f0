/**
 * Every intended difference from the Go plugin, for administrators and for the tests.
 *
 * An entry says what the Go plugin (v1.9.1) does, what this project does instead, and why. If the recorded behaviour of the Go
 * plugin (vectors.json) shows the difference, `changed` holds the new expectations; vectors.test.ts applies them, and
 * differences.test.ts proves that each change is needed. If no vector shows it, `coveredBy` names the tests that do.
 */

import type { TreeEntry } from "../harness/data-directory.ts";
import { printError } from "../harness/printed-error.ts";

/** The difference of one call of one vector, and of the files after it, from the recording. */
export interface ChangedExpectation {
  readonly vector: string;
  /** The number of the call in the vector, counted from 1; by default the first. */
  readonly step?: number;
  readonly exitCode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Files that are left here, but not (or not like this) by the Go plugin. */
  readonly filesLeft?: readonly TreeEntry[];
  /** Files that the Go plugin leaves, but that are not left here. */
  readonly filesNotLeft?: readonly string[];
}

/** The readers whom a difference can affect, in the questions of docs/differences.md. */
export type Concern = "failures" | "runtimes" | "configurations" | "files" | "streams" | "static";

/** One decided difference. */
export interface Difference {
  readonly title: string;
  readonly concerns: Concern;
  /** The behaviour of the Go plugin. */
  readonly reference: string;
  /** The behaviour of this project. */
  readonly here: string;
  readonly reason: string;
  readonly changed: readonly ChangedExpectation[];
  /** Tests below test/ that show the difference besides the vectors named in `changed`. */
  readonly coveredBy: readonly string[];
}

/** The Go plugin's lock file, which a call leaves behind in the network `net`. */
const lockFile: TreeEntry = { path: "net/lock", mode: "600", content: "" };

/** The executable's text about itself; its version is compared elsewhere. */
const about = `CNI host-local plugin version unknown
CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0
With arguments it is a tool for operators: host-local --help
`;

/** The result of an ADD with these addresses, printed as the Go plugin prints it. */
function resultOf(...ips: readonly { readonly address: string; readonly gateway?: string }[]) {
  return JSON.stringify({ cniVersion: "1.0.0", ips }, null, 4);
}

/** The list of differences, most important first. */
export const differences: readonly Difference[] = [
  {
    title: "DEL frees addresses whatever else the configuration says",
    concerns: "failures",
    reference:
      "DEL fails when ranges, routes, CNI_ARGS, args or runtimeConfig are missing or invalid, and the address leaks.",
    here: "DEL needs a network name, an ipam object, the data directory and the attachment, and nothing else.",
    reason: "Runtimes call DEL with incomplete configurations, such as without runtimeConfig.",
    changed: [
      { vector: "args/DEL-bad", exitCode: 0, stdout: "" },
      {
        vector: "del/invalid-range",
        exitCode: 0,
        stdout: "",
        filesLeft: [lockFile],
        filesNotLeft: ["net/10.0.0.2"],
      },
      {
        vector: "del/no-ranges",
        exitCode: 0,
        stdout: "",
        filesLeft: [lockFile],
        filesNotLeft: ["net/10.0.0.2"],
      },
    ],
    coveredBy: ["behaviours/del.test.ts"],
  },
  {
    title: "GC frees addresses of attachments that no longer exist",
    concerns: "runtimes",
    reference: "GC does nothing: an address that never got a DEL is lost.",
    here: "GC frees every reservation that is not in cni.dev/valid-attachments (where that is absent, cni.dev/attachments). Without a list (both keys absent, or null, which CRI-O sends for every network but its default one) it frees only pods whose network namespace is proven gone and what is from before a reboot, and a line on standard error says so. A malformed list is error 7. Reservations that cannot be freed are reported together at the end, as error 5. Ranges are not needed. Against the list it keeps what was reserved for a network namespace that is not proven gone, and what was reserved less than two seconds before the call began. It also keeps addresses that the node, a process or a mounted network namespace has, or may have if one of these cannot be looked at. A line on standard error says which, and why.",
    reason:
      "CNI specification 1.1.0 requires it. cnitool gc sends neither key, and calls DEL itself. Runtimes send lists that are too old or incomplete (antrea#8239), and a pod whose address is freed shares it with the next one.",
    changed: [
      {
        vector: "version/GC-'1.1.0'",
        stderr: "host-local: GC without cni.dev/valid-attachments; nothing was released\n",
      },
    ],
    coveredBy: ["behaviours/gc.test.ts", "blackbox/gc-living.test.ts"],
  },
  {
    title: "New keys, off by default",
    concerns: "configurations",
    reference: "They are unknown.",
    here: "exclude, reserved, rangesFile, partition, repeatedAdd, history, reuseDelaySeconds, requested, sticky and stickySeconds, exhaustedStatus, lockTimeoutSeconds and gcOnly do what [configuration.md](configuration.md) says.",
    reason:
      "Each answers a request of administrators. The request for gcOnly, for example, is that bridge, ptp, macvlan and others never forward GC to their IPAM plugin.",
    changed: [],
    coveredBy: [
      "behaviours/exclude.test.ts",
      "behaviours/reserved.test.ts",
      "behaviours/ranges-file.test.ts",
      "behaviours/partition.test.ts",
      "behaviours/repeated-add.test.ts",
      "behaviours/history.test.ts",
      "behaviours/reuse.test.ts",
      "behaviours/chain.test.ts",
    ],
  },
  {
    title: "STATUS says when no address can ever be handed out",
    concerns: "runtimes",
    reference: "STATUS always succeeds and ignores the ipam section.",
    here: 'STATUS fails with code 50 if the data directory cannot be written, if the ipam section is missing or invalid, if the file of resolvConf cannot be read, or if every address of a range set is excluded, or reserved for nobody. An exhausted range set is reported only with "exhaustedStatus": "unavailable". Missing ranges are not an error.',
    reason:
      "CNI specification 1.1.0 requires it, also for an exhausted range set. But then runtimes report the node as NotReady, and Kubernetes evicts its pods.",
    changed: [],
    coveredBy: ["behaviours/status.test.ts"],
  },
  {
    title: "Reservations are created atomically",
    concerns: "failures",
    reference:
      "The file is created, then written. A crash in between leaves an empty file that is never freed.",
    here: "The file gets its name when its content is complete. An empty file is reclaimed once it is ten seconds old and its range is otherwise exhausted. A file with any content never is.",
    reason: "A crash or a full disk must not leak addresses.",
    changed: [],
    coveredBy: ["store/allocation.test.ts", "faults/executables/corrupt-files.test.ts"],
  },
  {
    title: "ADD refuses the plugin's own network namespace before it reserves anything",
    concerns: "failures",
    reference:
      "ADD prints the result, then an error object after it, and leaves the address reserved.",
    here: "ADD prints the error alone and reserves nothing.",
    reason: "Runtimes cannot read two JSON documents, and the address leaked.",
    changed: [
      {
        vector: "netns/ADD-own",
        stdout: printError({
          code: 8,
          msg: "plugin's netns and netns from CNI_NETNS should not be the same",
        }),
        filesNotLeft: ["net/", "net/10.1.2.2", "net/last_reserved_ip.0", "net/lock"],
      },
    ],
    coveredBy: [],
  },
  {
    title: "A failed ADD gives back what it reserved itself, and nothing else",
    concerns: "failures",
    reference:
      "A failed ADD frees every address of the attachment, also those of an earlier ADD that are in use.",
    here: "It frees only the addresses that the same call reserved.",
    reason: "A repeated ADD must not take the address of a running container.",
    changed: [
      {
        vector: "rollback/removes-preexisting",
        filesLeft: [{ path: "net/10.9.9.9", mode: "600", content: "c1\r\neth0" }],
      },
      {
        vector: "rollback/second-dup-destroys",
        filesLeft: [{ path: "net/10.0.1.2", mode: "600", content: "c1\r\neth0" }],
      },
    ],
    coveredBy: ["differential/random-steps.test.ts"],
  },
  {
    title: "Waiting for the lock is bounded, and lock errors are errors",
    concerns: "failures",
    reference: "A call waits forever, and continues without the lock if locking fails.",
    here: "A call waits 30 seconds, or lockTimeoutSeconds, then fails with code 11 and has changed nothing.",
    reason: "A runtime can retry after code 11, but not while a call hangs.",
    changed: [],
    coveredBy: ["faults/executables/locks.test.ts"],
  },
  {
    title: "Standard input is limited in time and size",
    concerns: "failures",
    reference:
      "A call waits forever for a standard input that stays open, and reads it without limit.",
    here: "After 60 seconds, or more than 64 MiB, the call fails with code 5 and has changed nothing. In the portable executable the time limit applies to pipes only.",
    reason: "A runtime that dies while writing should leave no processes behind.",
    changed: [],
    coveredBy: ["faults/executables/streams.test.ts", "system/node/standard-streams.test.ts"],
  },
  {
    title: "Errors name the trace of the call",
    concerns: "streams",
    reference: "TRACEPARENT is ignored.",
    here: "If TRACEPARENT is valid (W3C Trace Context), details ends with the trace id. An error about the lock also names the trace of the holder.",
    reason: "The error in a log leads to the pod's trace.",
    changed: [],
    coveredBy: ["main.test.ts", "blackbox/lock.test.ts"],
  },
  {
    title: "static: CHECK reads only the version and the addresses of prevResult",
    concerns: "static",
    reference:
      "Invalid routes, interfaces or DNS settings in prevResult are an error, and null among its addresses ends in a crash.",
    here: "CHECK reads what it compares. null among the addresses is ignored.",
    reason: "The main plugin may have added anything.",
    changed: [],
    coveredBy: ["static/previous-result.test.ts"],
  },
  {
    title: "static: Address is another spelling of address",
    concerns: "static",
    reference:
      "The key Address, with a capital letter, is a type error, although other keys match in any letter case.",
    here: "It matches as other keys do.",
    reason: "The Go plugin finds an internal field of that name by accident.",
    changed: [],
    coveredBy: ["static/config.test.ts"],
  },
  {
    title: "With arguments, and without CNI_COMMAND, it runs operator commands",
    concerns: "streams",
    reference: "Arguments are ignored: without CNI_COMMAND it prints two lines about itself.",
    here: "host-local --help lists the commands. Without arguments a third line says so. With CNI_COMMAND arguments are ignored.",
    reason: "Administrators had only ls and rm. No runtime calls a plugin with arguments.",
    changed: [
      { vector: "proc/about", stderr: about },
      { vector: "proc/about-empty-command", stderr: about },
    ],
    coveredBy: ["operator/entry.test.ts", "blackbox/environment.test.ts"],
  },
  {
    title: "Errors have more details",
    concerns: "streams",
    reference: "Most errors have no details.",
    here: "Code and msg are the same. details says what was expected and found, where, and what is next.",
    reason: "An error should be understood without the source code.",
    changed: [],
    coveredBy: ["behaviours/add.test.ts"],
  },
  {
    title: "An ADD that cannot write its result frees its addresses",
    concerns: "failures",
    reference:
      "If standard output is closed or full, or its reader has exited, ADD leaves the address reserved.",
    here: "The address is freed, and the exit code is 1.",
    reason: "The runtime never received the address, so it would leak.",
    changed: [],
    coveredBy: ["faults/executables/streams.test.ts", "blackbox/undeliverable-result.test.ts"],
  },
  {
    title: "A cursor file that cannot be written does not leak an address",
    concerns: "failures",
    reference: "ADD fails and leaves the address reserved. The cursor file may be truncated.",
    here: "ADD fails and frees the address. The cursor file contains the old address or the new one.",
    reason: "A failed ADD must not leave anything behind.",
    changed: [],
    coveredBy: ["behaviours/add.test.ts"],
  },
  {
    title: "null among requested addresses or routes is an error, not a crash",
    concerns: "runtimes",
    reference:
      "null in ips crashes the plugin. A null route crashes it for versions below 0.3.0 and is printed as null above. A route without dst is printed as <nil>.",
    here: "Error 999 with the message that the Go plugin has for an empty address or CIDR. Nothing is reserved.",
    reason: "A crash does not say what to fix.",
    changed: [],
    coveredBy: ["behaviours/bad-configuration.test.ts"],
  },
  {
    title: "rangeStart may not lie above the default end of the range",
    concerns: "configurations",
    reference:
      "rangeStart 10.1.2.255 in 10.1.2.0/24 is accepted. ADDs then hand out .255 and continue outside the subnet.",
    here: "It is rejected, with the Go plugin's message for a rangeStart outside the network.",
    reason: "Addresses outside the subnet belong to other networks.",
    changed: [
      {
        vector: "config/range-start-bcast",
        exitCode: 1,
        stdout: printError({
          code: 999,
          msg: "invalid range set 0: RangeStart 10.1.2.255 not in network 10.1.2.0/24",
        }),
        filesNotLeft: ["net/", "net/10.1.2.255", "net/last_reserved_ip.0", "net/lock"],
      },
    ],
    coveredBy: [],
  },
  {
    title: "Subnets of one or two addresses are accepted",
    concerns: "configurations",
    reference: "A subnet of /31, /32, /127 or /128 is too small: every call fails, DEL included.",
    here: "All addresses are handed out (RFC 3021, RFC 6164). There is no gateway, unless one is configured, which is not handed out. Errors are those of larger subnets.",
    reason: "A point-to-point link or a pod with one routed address needs no larger subnet.",
    changed: [
      {
        vector: "config/subnet-test-/31",
        exitCode: 0,
        stdout: resultOf({ address: "192.0.2.0/31" }),
        filesLeft: [
          { path: "net/", mode: "755" },
          lockFile,
          { path: "net/192.0.2.0", mode: "600", content: "c1\r\neth0" },
          { path: "net/last_reserved_ip.0", mode: "600", content: "192.0.2.0" },
        ],
      },
      {
        vector: "config/subnet-v6-128",
        exitCode: 0,
        stdout: resultOf({ address: "2001:db8::/128" }),
        filesLeft: [
          { path: "net/", mode: "755" },
          lockFile,
          { path: "net/2001:db8::", mode: "600", content: "c1\r\neth0" },
          { path: "net/last_reserved_ip.0", mode: "600", content: "2001:db8::" },
        ],
      },
      {
        vector: "config/ranges-second-bad",
        exitCode: 0,
        stdout: resultOf(
          { address: "10.1.2.2/24", gateway: "10.1.2.1" },
          { address: "10.1.3.0/31" },
        ),
        filesLeft: [
          { path: "net/", mode: "755" },
          lockFile,
          { path: "net/10.1.2.2", mode: "600", content: "c1\r\neth0" },
          { path: "net/last_reserved_ip.0", mode: "600", content: "10.1.2.2" },
          { path: "net/10.1.3.0", mode: "600", content: "c1\r\neth0" },
          { path: "net/last_reserved_ip.1", mode: "600", content: "10.1.3.0" },
        ],
      },
      {
        vector: "config/subnet-31hostbits",
        stdout: printError({
          code: 999,
          msg: "invalid range set 0: Network has host bits set. For a subnet mask of length 31 the network address is 10.1.2.0",
        }),
      },
    ],
    coveredBy: ["behaviours/small-subnets.test.ts"],
  },
  {
    title: "A range may have no gateway",
    concerns: "configurations",
    reference:
      'The first address is in the result, and not handed out, unless another gateway is configured. "gateway": "none" is an error in ADD and DEL.',
    here: 'With "gateway": "none" the result has no gateway for an address of this range, and all of its addresses are handed out.',
    reason:
      "A network without a router, such as one for storage, has no gateway, and a main plugin that is told one makes it the default route (containernetworking/plugins#109, sriov-network-operator#812).",
    changed: [],
    coveredBy: ["behaviours/no-gateway.test.ts"],
  },
  {
    title: "Several requested addresses are taken in their order",
    concerns: "runtimes",
    reference:
      "Which of several requested addresses in a range set is reserved, and their order in the message about the others, is random.",
    here: "The first in the order CNI_ARGS, args.cni.ips, runtimeConfig.ips is reserved. The message keeps that order.",
    reason: "The same call should have the same result.",
    changed: [],
    coveredBy: ["behaviours/add.test.ts"],
  },
  {
    title: "Calls that fail are kept until the node restarts",
    concerns: "files",
    reference: "An error is told to the runtime alone.",
    here: "Each ADD, DEL, CHECK and GC that fails, and each pod that gives its address back within a second, is a line in /run/host-local/failed-calls, of at most 1 MiB and as much before. Who may not write there keeps nothing.",
    reason:
      "The next call does not know why the last one failed, and a runtime's log is of no form that a monitor could read.",
    changed: [],
    coveredBy: ["blackbox/failed-calls.test.ts"],
  },
  {
    title: "DEL falls back to reservations without an interface name once per call",
    concerns: "files",
    reference:
      "With several range sets, DEL frees the exact matches first, then files with only the container id (from very old versions).",
    here: "Those are freed only if there was no exact match.",
    reason: "What DEL frees should not depend on the number of range sets.",
    changed: [
      {
        vector: "del/two-sets-also-legacy",
        filesLeft: [{ path: "net/10.0.0.3", mode: "600", content: "c1" }],
      },
    ],
    coveredBy: [],
  },
  {
    title: "Only files named as an address, directly in the network's directory, are reservations",
    concerns: "files",
    reference:
      "Subdirectories are also searched, and DEL and CHECK accept any file with the right content.",
    here: "Other files and subdirectories are ignored.",
    reason: "A file that is not a reservation must never be removed.",
    changed: [
      {
        vector: "del/anywhere",
        filesLeft: [
          { path: "net/foo", mode: "600", content: "c1\r\neth0" },
          { path: "net/sub/x", mode: "600", content: "c1\r\neth0" },
        ],
      },
      {
        vector: "alloc/dup-in-subdir",
        exitCode: 0,
        stdout: resultOf({ address: "10.0.0.2/29", gateway: "10.0.0.1" }),
        filesLeft: [
          { path: "net/10.0.0.2", mode: "600", content: "c1\r\neth0" },
          { path: "net/last_reserved_ip.0", mode: "600", content: "10.0.0.2" },
        ],
      },
    ],
    coveredBy: ["behaviours/del.test.ts", "behaviours/check.test.ts"],
  },
  {
    title: "A network directory that is a symbolic link works for every command",
    concerns: "files",
    reference:
      "ADD works there, but DEL, CHECK and the check for duplicates find nothing: addresses leak.",
    here: "The link is followed.",
    reason: "Administrators move data directories to other disks.",
    changed: [],
    coveredBy: ["faults/executables/disks.test.ts"],
  },
  {
    title: "DEL reports an address that it could not free",
    concerns: "failures",
    reference: "DEL succeeds although the file could not be removed.",
    here: "DEL frees what it can, then fails with code 5 and names the rest.",
    reason: "The runtime then retries instead of forgetting the container.",
    changed: [],
    coveredBy: ["verbs/del.test.ts", "faults/executables/disks.test.ts"],
  },
  {
    title: "DEL, CHECK, GC and STATUS create no network directory",
    concerns: "files",
    reference:
      "On a network that never had an address they leave an empty directory and a lock file behind.",
    here: "Without a directory nothing is reserved. CHECK and STATUS take no lock and write nothing.",
    reason: "A query should not write, and CHECK should work on a read-only disk.",
    changed: [
      { vector: "gotest/del-unknown-0.2.0", filesNotLeft: ["mynet0/", "mynet0/lock"] },
      { vector: "gotest/del-unknown-0.3.0", filesNotLeft: ["mynet0/", "mynet0/lock"] },
      { vector: "gotest/del-unknown-1.1.0", filesNotLeft: ["mynet0/", "mynet0/lock"] },
      { vector: "check/exact", filesNotLeft: ["net/lock"] },
      { vector: "check/legacy", filesNotLeft: ["net/lock"] },
      { vector: "check/out-of-range", filesNotLeft: ["net/lock"] },
    ],
    coveredBy: ["behaviours/del.test.ts", "faults/executables/disks.test.ts"],
  },
  {
    title: "White space around the address in a cursor file is ignored",
    concerns: "files",
    reference: "A cursor file that ends with a newline is ignored, and allocation starts over.",
    here: "The address is used.",
    reason: "Administrators write such files with echo.",
    changed: [],
    coveredBy: ["behaviours/add.test.ts"],
  },
  {
    title: "IPv6 ranges below ::/96 are counted correctly",
    concerns: "configurations",
    reference:
      "In a range such as ::100:0/120 the successor of an address becomes an IPv4 address: 1.0.0.2.",
    here: "Addresses keep their family.",
    reason: "The Go plugin drops leading zero bytes.",
    changed: [],
    coveredBy: ["behaviours/add.test.ts"],
  },
  {
    title: "Of a repeated key in the configuration the last one counts",
    concerns: "configurations",
    reference:
      "Repeated objects are merged member by member, and repeated lists element by element.",
    here: "The last one replaces the others.",
    reason: "Most JSON parsers do this. No runtime writes such a document.",
    changed: [],
    coveredBy: ["behaviours/add.test.ts"],
  },
  {
    title: "Type errors in the configuration name the path",
    concerns: "configurations",
    reference: "The text after 'json: cannot unmarshal' names a structure of the Go source.",
    here: "The rest is the path of the member, such as ipam.ranges[0][1].rangeStart.",
    reason: "An administrator needs the path.",
    changed: [],
    coveredBy: ["behaviours/bad-configuration.test.ts", "blackbox/vectors.test.ts"],
  },
  {
    title: "Of several errors in a configuration another one may be reported",
    concerns: "configurations",
    reference:
      "A malformed address or network is reported before an earlier value of the wrong type.",
    here: "Members are read in a fixed order. The code is the same.",
    reason: "Each error has to be fixed anyway.",
    changed: [],
    coveredBy: ["configuration/config.test.ts"],
  },
  {
    title: "Numbers beyond 2^53 lose their last digits",
    concerns: "configurations",
    reference: "Before version 1.0.0, mtu, advmss, priority, table and scope are exact to 2^63.",
    here: "They are exact to 2^53, as in the Go plugin from 1.0.0 on.",
    reason: "No route uses such numbers.",
    changed: [],
    coveredBy: ["cni/json.test.ts"],
  },
  {
    title: "Whole numbers may be written as 1.0 or 1e3",
    concerns: "configurations",
    reference: "The configuration is rejected.",
    here: "mtu, advmss, priority, table and scope accept any notation of a whole number.",
    reason: "JSON has one number type.",
    changed: [],
    coveredBy: ["cni/json.test.ts"],
  },
  {
    title: "A directory that cannot be listed is an error",
    concerns: "failures",
    reference:
      "ADD skips the check for a second address, DEL frees nothing and succeeds, CHECK finds nothing.",
    here: "ADD and CHECK fail with the cause. DEL fails with code 5. A reservation that DEL cannot read is named on standard error.",
    reason: "An address that cannot be freed must be reported.",
    changed: [],
    coveredBy: ["verbs/del.test.ts"],
  },
  {
    title:
      "Portable executable: a stream that is /dev/null, opened for reading and writing, is treated as closed",
    concerns: "streams",
    reference: "Only a closed stream is treated so.",
    here: "Node.js opens /dev/null in this way in place of a closed stream. Redirections in a shell work, and so does the native executable.",
    reason: "An address that is printed to a closed stream would leak.",
    changed: [],
    coveredBy: ["faults/executables/streams.test.ts", "blackbox/undeliverable-result.test.ts"],
  },
  {
    title: "An interface name that is not UTF-8 is refused",
    concerns: "failures",
    reference: "Its bytes are written to the reservation as they are.",
    here: "Every verb with an interface fails with code 4.",
    reason:
      "Texts are Unicode here: a reservation with other bytes would be released by neither plugin's DEL.",
    changed: [],
    coveredBy: ["blackbox/environment.test.ts", "cni/attachment.test.ts"],
  },
  {
    title: "File modes do not depend on the caller's umask",
    concerns: "files",
    reference: "The caller's umask restricts the modes of files and directories.",
    here: "The network's directory has mode 0755, .host-local 0700, every file 0600, also the lock file, which is 0750 there.",
    reason:
      "Files that one runtime creates must be usable by another, and audits (CIS 1.1.9) want no file beyond 0600.",
    changed: [],
    coveredBy: ["faults/executables/permissions.test.ts", "blackbox/audits.test.ts"],
  },
  {
    title: "Nothing is created or overwritten through a symbolic link",
    concerns: "files",
    reference:
      "A cursor or lock file that is a link is followed: its target is overwritten or created.",
    here: "A cursor that is a link is replaced. A lock file that is a dangling link is an error for ADD. The data directory and a network's directory may be links.",
    reason: "Root should write only in the data directory.",
    changed: [],
    coveredBy: ["faults/executables/corrupt-files.test.ts"],
  },
  {
    title: "Reservations from before a reboot are reclaimed",
    concerns: "failures",
    reference: "They take their addresses until an administrator deletes them.",
    here: "An ADD that would find no address takes one that is reserved from before this boot, the oldest first, [unless reclaim is never](configuration.md#after-a-reboot). The same applies to an ADD that requests such an address, and to one of the same container.",
    reason:
      "No network namespace survives a reboot. After a few power failures the range was full.",
    changed: [],
    coveredBy: ["verbs/boots.test.ts", "faults/executables/unseen-changes.test.ts"],
  },
  {
    title: "No address that lives is handed out, whatever the disk has forgotten",
    concerns: "failures",
    reference:
      "ADD asks the files alone. Once the data directory was deleted, or a backup restored, it hands out addresses of running pods, and at any time those of other programs' containers, or of the node itself.",
    here: "ADD passes over each address that the node's network namespace has, or one linked with it, as the kernel tells since Linux 4.20 to a caller with CAP_NET_ADMIN. It takes no dead pod's address that a process or a mount shows in use. What another network of the data directory has reserved is that network's. If nothing else is free it looks again for up to a second, without the lock, since a DEL may be under way, and then says how many are in use and not reserved. It gives the network namespace of its own call an id (`ip netns list-id`), which goes with it.",
    reason:
      "kubernetes#39557, kubernetes#57280, kubernetes#43910, kube-aws#60, rke#340: the directory was deleted, or lost with a container of the kubelet, and pods got addresses that others had.",
    changed: [],
    coveredBy: ["verbs/living-addresses.test.ts", "e2e/lost-state.test.ts"],
  },
  {
    title: "Addresses of pods whose network namespace is gone are reclaimed",
    concerns: "failures",
    reference: "They are taken until an administrator deletes them.",
    here: "An ADD that would find no address, or whose requested one is taken, takes the address of a pod's sandbox if its network namespace is proven gone, [unless reclaim is never](configuration.md#addresses-of-dead-pods). A container gets its own address again if the namespace it was reserved for is gone.",
    reason:
      "A DEL that never came leaked the address: after enough failed pods the range was full, and the container that held a requested address itself could not start again.",
    changed: [],
    coveredBy: ["verbs/reclaim.test.ts", "blackbox/reclaim.test.ts"],
  },
  {
    title: "The data directory contains the directory .host-local",
    concerns: "files",
    reference: "It contains only the networks' directories.",
    here: "It contains what [addresses.md](addresses.md#the-files) lists. No network can have its name, and it may be removed while no call is running.",
    reason: "The Go plugin reads every file in a network's directory.",
    changed: [],
    coveredBy: ["blackbox/vectors.test.ts", "differential/take-over.test.ts"],
  },
];
