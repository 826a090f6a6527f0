/** Bad input gets one error object on standard output and exit code 1, and changes nothing. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { ownDirectory, populate, scratchDirectory, treeOf } from "../harness/data-directory.ts";
import { type Call, executable, type Outcome, run } from "../harness/executable.ts";
import { printError, readError } from "../harness/printed-error.ts";
import {
  attachmentCall,
  configuration,
  type Json,
  type JsonObject,
} from "../harness/runtime-call.ts";

/** The `ipam` members of a valid call. */
export const subnet = { subnet: "10.0.0.0/24" };

/** Where the data directory's path is put into a text. */
export const here = "@D@";

/**
 * A valid call, but for what is changed in it.
 *
 * @param command the value of `CNI_COMMAND`
 * @param top top-level members of the configuration
 */
export function validCall(command: "ADD" | "CHECK" | "DEL" = "ADD", top: JsonObject = {}): Call {
  return attachmentCall(command, { containerId: "c1" }, configuration(here, subnet, top));
}

/**
 * Puts variables into a call; an empty one counts as missing.
 *
 * @param variables the variables
 * @param call the call; a valid ADD where absent
 */
export function withVariables(
  variables: Readonly<Record<string, string>>,
  call = validCall(),
): Call {
  return { ...call, environment: { ...call.environment, ...variables } };
}

/**
 * A valid call, but for its standard input.
 *
 * @param stdin the input
 * @param command the value of `CNI_COMMAND`
 */
export function withInput(
  stdin: string | Uint8Array,
  command: "ADD" | "CHECK" | "DEL" = "ADD",
): Call {
  return { ...validCall(command), stdin };
}

/**
 * A valid call, but for further members of its `ipam` section.
 *
 * @param members the members, which win over the valid ones
 * @param command the value of `CNI_COMMAND`
 */
export function withIpam(members: JsonObject, command: "ADD" | "CHECK" = "ADD"): Call {
  return attachmentCall(
    command,
    { containerId: "c1" },
    configuration(here, { ...subnet, ...members }),
  );
}

/**
 * Expects a call to be refused with one error object and exit code 1, and the directory as it was.
 * Ends the test.
 *
 * @param t the test
 * @param call the call
 * @param code the error code
 * @param message the message, or a part of it, with {@link here} for the data directory
 * @param program what to start instead of the executable under test
 */
export function refuses(
  t: Test,
  call: Call,
  code: number,
  message: string | RegExp,
  program = executable,
) {
  const directory = scratchDirectory(t);
  populate(directory, [
    { path: "net/10.0.0.2", content: "c9\r\neth0" },
    { path: "net/last_reserved_ip.0", content: "10.0.0.2" },
    { path: "resolv.conf", content: "nameserver 192.0.2.53\n" },
  ]);
  const before = treeOf(directory);
  const stdin =
    typeof call.stdin === "string" ? call.stdin.replaceAll(here, directory) : call.stdin;

  const outcome: Outcome = run(program, { ...call, stdin });

  const error = readError(outcome.stdout);
  t.equal(outcome.exitCode, 1, "exit code");
  t.ok(error, `one error object, not ${quote(outcome.stdout)}`);
  if (error !== undefined) {
    t.equal(outcome.stdout, printError(error), "printed as the Go plugin prints it");
    t.equal(error.code, code, "code");
    t.match(error.msg.replaceAll(directory, here), message, "message");
  }
  t.equal(outcome.stderr, "", "nothing on standard error");
  t.strictSame(treeOf(directory), before, "nothing changed");
  t.notOk(existsSync(join(directory, ownDirectory)), "nothing of our own was made");
  t.end();
}

/**
 * A value for a test's name: JSON in ASCII, for some characters would break the report's lines.
 *
 * @param value the value
 */
export function quote(value: Json): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Matches a text exactly.
 *
 * @param text the text
 */
export function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}
