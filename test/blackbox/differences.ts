/**
 * Every difference from the Go plugin that was decided on, for administrators and for the tests.
 *
 * An entry says what the Go plugin (v1.9.1) does, what this project does instead, and why. Where
 * the recorded behaviour of the Go plugin (vectors.json) shows the difference, `changed` holds the
 * new expectation, one by one; vectors.test.ts applies it, and differences.test.ts proves that each
 * change is needed. Where no vector shows it, `coveredBy` names the tests that do.
 */

import type { TreeEntry } from "./data-directory.ts";
import { printError } from "./printed-error.ts";

/** How one call of one vector, and the files after it, differ from the recording. */
export interface ChangedExpectation {
  readonly vector: string;
  /** Which call of the vector, counted from 1; the first where absent. */
  readonly step?: number;
  readonly exitCode?: number;
  readonly stdout?: string;
  /** The exact text, or a pattern for it. */
  readonly stderr?: string | RegExp;
  /** Files left here, but not (or not like this) by the Go plugin. */
  readonly filesLeft?: readonly TreeEntry[];
  /** Files left by the Go plugin, but not here. */
  readonly filesNotLeft?: readonly string[];
}

/** One decided difference. */
export interface Difference {
  readonly title: string;
  /** What the Go plugin does. */
  readonly reference: string;
  /** What this project does. */
  readonly here: string;
  readonly reason: string;
  readonly changed: readonly ChangedExpectation[];
  /** Tests below test/ that show the difference besides the vectors named in `changed`. */
  readonly coveredBy: readonly string[];
}

/** The reference's lock file, as a call leaves it behind in the network `net`. */
const lockFile: TreeEntry = { path: "net/lock", mode: "750", content: "" };

/** What the executable says of itself; its version is compared elsewhere. */
const about = `CNI host-local plugin version unknown
CNI protocol versions supported: 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0
With arguments it is a tool for operators: host-local --help
`;

/** The list of differences, most important first. */
export const differences: readonly Difference[] = [
  {
    title: "DEL frees addresses whatever else the configuration says",
    reference:
      "DEL fails when ranges are missing or invalid, or when routes, CNI_ARGS, args or runtimeConfig are; the address stays reserved for ever.",
    here: "DEL needs a network name, an ipam object, the data directory, the container id and the interface. It looks at nothing else, and always frees what it finds.",
    reason:
      "Runtimes call DEL with stripped configurations, for example without the runtimeConfig that held the ranges.",
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
    coveredBy: ["blackbox/del.test.ts"],
  },
  {
    title: "GC frees addresses of attachments that no longer exist",
    reference:
      "GC does nothing, so an address whose DEL never came is lost until somebody removes its file.",
    here: "GC frees every reservation that is not listed in cni.dev/valid-attachments (or, where that key is absent, in cni.dev/attachments). null and an empty list mean that nothing is valid. Where both keys are absent nothing is freed, and one line on standard error says so. A list of another form is error 7 and frees nothing. Reservations that cannot be freed are reported together at the end, as error 5. Ranges are not needed.",
    reason: "CNI specification 1.1.0 asks for it. cnitool gc sends no key, after DELs of its own.",
    changed: [{ vector: "version/GC-'1.1.0'", stderr: /^[^\n]+\n$/ }],
    coveredBy: ["blackbox/gc.test.ts"],
  },
  {
    title: 'The executable can stand in the plugin chain with "gcOnly": true',
    reference: "The key is unknown; the plugin would reserve a second address.",
    here: "ADD and CHECK hand prevResult on untouched, DEL does nothing, GC and STATUS do their work.",
    reason:
      "The stock main plugins (bridge, ptp, macvlan and others) answer GC themselves and never forward it to their IPAM plugin.",
    changed: [],
    coveredBy: ["blackbox/gc-only.test.ts"],
  },
  {
    title: "STATUS says when no address can be handed out",
    reference: "STATUS always succeeds, without a look at the ipam section.",
    here: 'STATUS fails with code 50, and with counts, when the data directory cannot be written, when a range set is exhausted, or when the ipam section is missing or invalid. "exhaustedStatus": "ready" lets an exhausted range set count as ready. Missing ranges are no error.',
    reason:
      "CNI specification 1.1.0 asks for it; some runtimes take the whole node out of service on code 50.",
    changed: [],
    coveredBy: ["blackbox/status.test.ts"],
  },
  {
    title: "A reservation appears whole or not at all",
    reference:
      "The file is created first and written afterwards. A crash in between leaves an empty file that nothing ever frees.",
    here: "The file gets its name only when its content is complete. An empty file left by others is nobody's: once it is ten seconds old, it gives way when its range is otherwise exhausted. A file with any content is never taken over.",
    reason: "Addresses must not leak by a crash or a full disk.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "ADD refuses the plugin's own network namespace before it reserves anything",
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
    reference:
      "A failed ADD frees every address of the container and interface in this network, also those of an earlier, successful ADD that are in use.",
    here: "A failed ADD frees the addresses that this very call reserved.",
    reason: "A repeated ADD must not cut off a running container.",
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
    reference: "A call waits without end, and works without the lock where locking fails.",
    here: "A call waits 30 seconds, or lockTimeoutSeconds, then fails with code 11 and has changed nothing. The lock of a killed process does not block. One lock covers all range sets of a call.",
    reason: "A runtime can retry after code 11; it can do nothing about a call that hangs.",
    changed: [],
    coveredBy: ["blackbox/lock.test.ts"],
  },
  {
    title: "Standard input must end",
    reference:
      "A call waits without end for a standard input that stays open, and reads it without limit.",
    here: "After 60 seconds, or more than 64 MiB, the call fails with code 5 and has changed nothing. The portable executable knows the time limit for pipes only.",
    reason: "A runtime that died while it wrote should not leave plugins behind.",
    changed: [],
    coveredBy: ["faults/executables/streams.test.ts", "system/node/standard-streams.test.ts"],
  },
  {
    title: "With arguments, and without CNI_COMMAND, it is a tool for operators",
    reference: "Arguments are ignored: without CNI_COMMAND it says in two lines what it is.",
    here: "host-local --help names the commands that see, check and repair what is reserved. Without arguments a third line points there. With CNI_COMMAND arguments are ignored, as by the Go plugin.",
    reason: "What is reserved was left to ls and rm. No runtime calls a plugin with arguments.",
    changed: [
      { vector: "proc/about", stderr: about },
      { vector: "proc/about-empty-command", stderr: about },
    ],
    coveredBy: ["operator/entry.test.ts", "blackbox/environment.test.ts"],
  },
  {
    title: "Errors say more in details",
    reference: "Most errors have no details.",
    here: "Code and msg are the reference's. details says what was expected and found, and where; on exhaustion how many addresses are used per range and what to do next; on a refused requested address who holds it.",
    reason: "An administrator should not need the source code to understand an error.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "A result that cannot be delivered is taken back",
    reference:
      "When standard output is closed or full, or its reader is gone, ADD leaves the address reserved.",
    here: "The reservation is given back, and the exit code is 1.",
    reason: "The runtime never learned of the address, so it would leak.",
    changed: [],
    coveredBy: ["blackbox/undeliverable-result.test.ts"],
  },
  {
    title: "A cursor file that cannot be written leaks no address",
    reference: "ADD fails and leaves the address reserved; the cursor file may be left cut short.",
    here: "ADD fails and gives the address back; the cursor file is replaced as a whole.",
    reason: "A failed ADD must leave nothing behind.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "null among requested addresses or routes is an error, not a crash",
    reference:
      "null in ips crashes the plugin; a null route crashes it for versions below 0.3.0 and is printed as null above; a route without dst is printed as <nil>.",
    here: "Error 999 with the message that the Go plugin has for an empty address or CIDR; nothing is reserved.",
    reason: "A crash tells nobody what to mend.",
    changed: [],
    coveredBy: ["blackbox/bad-configuration.test.ts"],
  },
  {
    title: "rangeStart may not lie above the default end of the range",
    reference:
      "rangeStart 10.1.2.255 in 10.1.2.0/24 is accepted; ADDs then hand out .255 and go on outside the subnet.",
    here: "The configuration is refused with the Go plugin's message for a rangeStart outside the network.",
    reason: "Addresses outside the subnet belong to somebody else.",
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
    title: "Several requested addresses are taken in their order",
    reference:
      "Which of several requested addresses in one range set is reserved, and the order in the error message about the others, is random.",
    here: "The first in the order CNI_ARGS, args.cni.ips, runtimeConfig.ips is reserved; the message keeps that order.",
    reason: "The same call should have the same answer.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "DEL falls back to reservations without an interface name once per call",
    reference:
      "With two or more range sets, DEL frees the exact matches in its first pass and files with the bare container id (from very old versions) in its second.",
    here: "Files with the bare container id are freed only where there was no exact match, however many range sets there are.",
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
    reference:
      "Sub-directories are searched too, and DEL and CHECK take any file with the right content, even the cursor file when a container id looks like an address.",
    here: "Other files and sub-directories are left alone and count for nothing.",
    reason: "A file that is no reservation must never be removed.",
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
        stdout: `{
    "cniVersion": "1.0.0",
    "ips": [
        {
            "address": "10.0.0.2/29",
            "gateway": "10.0.0.1"
        }
    ]
}`,
        filesLeft: [
          { path: "net/10.0.0.2", mode: "600", content: "c1\r\neth0" },
          { path: "net/last_reserved_ip.0", mode: "600", content: "10.0.0.2" },
        ],
      },
    ],
    coveredBy: ["blackbox/del.test.ts", "blackbox/check.test.ts"],
  },
  {
    title: "A network directory that is a symbolic link works for every command",
    reference:
      "ADD works there, but DEL, CHECK and the test for duplicates see nothing: addresses leak.",
    here: "The link is followed.",
    reason: "Administrators move data directories to other disks.",
    changed: [],
    coveredBy: ["blackbox/del.test.ts"],
  },
  {
    title: "DEL reports an address that it could not free",
    reference: "DEL succeeds although the file could not be removed.",
    here: "DEL frees what it can, then fails with code 5 and names what is left.",
    reason: "The runtime then tries again, instead of forgetting the container.",
    changed: [],
    coveredBy: ["blackbox/del.test.ts"],
  },
  {
    title: "DEL, CHECK, GC and STATUS create no network directory",
    reference:
      "DEL and CHECK on a network that never had an address leave an empty directory and a lock file behind. CHECK creates the lock file where it is missing.",
    here: "A missing directory means that nothing is reserved, and stays missing. CHECK and STATUS take no lock and write nothing at all.",
    reason: "Asking should not write; a read-only disk should not fail a CHECK.",
    changed: [
      { vector: "gotest/del-unknown-0.2.0", filesNotLeft: ["mynet0/", "mynet0/lock"] },
      { vector: "gotest/del-unknown-0.3.0", filesNotLeft: ["mynet0/", "mynet0/lock"] },
      { vector: "gotest/del-unknown-1.1.0", filesNotLeft: ["mynet0/", "mynet0/lock"] },
      { vector: "check/exact", filesNotLeft: ["net/lock"] },
      { vector: "check/legacy", filesNotLeft: ["net/lock"] },
      { vector: "check/out-of-range", filesNotLeft: ["net/lock"] },
    ],
    coveredBy: ["blackbox/check.test.ts", "blackbox/status.test.ts"],
  },
  {
    title: "White space around the address in a cursor file does not matter",
    reference: "A cursor file that ends with a newline is ignored, and allocation starts over.",
    here: "The address counts.",
    reason: "Administrators write such files with echo. Only the start of the round changes.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "IPv6 ranges below ::/96 are counted correctly",
    reference:
      "In a range such as ::100:0/120 the successor of an address becomes an IPv4 address: 1.0.0.2.",
    here: "Addresses keep their family.",
    reason: "It is an accident of number lengths in the Go plugin.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "Of a repeated key in the configuration the last one counts",
    reference:
      "Repeated objects are merged member by member, and repeated lists element by element.",
    here: "The last one counts as a whole.",
    reason: "It is what every other reader of JSON does. No runtime writes such a document.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts"],
  },
  {
    title: "Type errors in the configuration name the place",
    reference:
      "The text after 'json: cannot unmarshal' names a structure of the Go source, and changes with the Go release.",
    here: "Code and the beginning of the message are the same; the rest names the member, such as ipam.ranges[0][1].rangeStart.",
    reason: "The place in the configuration is what an administrator needs.",
    changed: [],
    coveredBy: ["blackbox/bad-configuration.test.ts", "blackbox/vectors.test.ts"],
  },
  {
    title: "Addresses can be excluded from a range",
    reference: "The key is unknown.",
    here: 'Addresses and CIDRs in "exclude" of the ipam section are never handed out. Off by default.',
    reason: "A router or a printer in the middle of a range should not need two ranges.",
    changed: [],
    coveredBy: ["blackbox/exclude.test.ts"],
  },
  {
    title: "Of several faults in a configuration another one may be named",
    reference:
      "A malformed address or network is reported before an earlier value of the wrong type; of two malformed ones the first in the document.",
    here: "Members are read in a fixed order, and the first fault is reported. The code is the same.",
    reason: "Each fault has to be mended anyway.",
    changed: [],
    coveredBy: ["ipam/config.test.ts"],
  },
  {
    title: "Numbers beyond 2^53 lose their last digits",
    reference: "Before version 1.0.0, mtu, advmss, priority, table and scope are exact to 2^63.",
    here: "They are exact to 2^53, as in the reference from 1.0.0 on.",
    reason: "No such number has a meaning in a route.",
    changed: [],
    coveredBy: ["cni/json.test.ts"],
  },
  {
    title: "Whole numbers may be written as 1.0 or 1e3",
    reference: "The configuration is refused.",
    here: "mtu, advmss, priority, table and scope are what they amount to.",
    reason: "JSON has one kind of numbers; it does not matter how one is written.",
    changed: [],
    coveredBy: ["cni/json.test.ts"],
  },
  {
    title: "A directory that cannot be listed is an error",
    reference:
      "ADD goes without the test for a second address, DEL frees nothing and succeeds, CHECK finds nothing.",
    here: "ADD and CHECK fail with the reason; so does DEL, with code 5, so that the runtime tries again. A reservation that DEL cannot read is named on standard error.",
    reason: "An address that nobody could free must not go unnoticed.",
    changed: [],
    coveredBy: ["blackbox/del.test.ts", "verbs/del.test.ts"],
  },
  {
    title:
      "Portable executable: a stream that is /dev/null, opened for reading and writing, counts as closed",
    reference: "Only a closed stream is one.",
    here: "Node.js opens /dev/null so in place of a stream that was closed, and the two cannot be told apart. A redirection by a shell opens it for one of the two and is not meant. The native executable behaves like the Go plugin.",
    reason: "An address that is handed to a closed stream would leak.",
    changed: [],
    coveredBy: ["system/node/standard-streams.test.ts"],
  },
  {
    title: "File modes do not depend on the caller's umask",
    reference: "The caller's umask takes bits away from the modes of files and directories.",
    here: "Directories get 0755, reservations and cursors 0600, the lock file 0750.",
    reason: "What one runtime creates, another must be able to use.",
    changed: [],
    coveredBy: ["blackbox/add.test.ts", "faults/executables/permissions.test.ts"],
  },
  {
    title: "Nothing is made or overwritten behind a symbolic link",
    reference:
      "A cursor or lock file that is a link is followed: what it leads to is overwritten or made.",
    here: "A cursor that is a link is replaced. A lock file that is a link to nothing is an error for ADD. The data directory and a network's directory may be links and are followed.",
    reason: "A plugin that runs as root should write nowhere but in its data directory.",
    changed: [],
    coveredBy: ["faults/executables/permissions.test.ts"],
  },
  {
    title: "The data directory holds one directory more",
    reference: "It holds nothing but the networks' directories.",
    here: "A directory .host-local holds the owner index, temporary files and the portable executable's lock. Its name cannot be a network's, and it may be removed whenever no call is running.",
    reason:
      "The Go plugin reads every file in a network's directory, so nothing of ours may stand there.",
    changed: [],
    coveredBy: ["blackbox/vectors.test.ts", "differential/take-over.test.ts"],
  },
];
