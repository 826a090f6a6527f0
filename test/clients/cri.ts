/** A client of the Container Runtime Interface, like the kubelet: gRPC over a socket. */

import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import { cgroupOfScenario } from "../e2e/scenario.ts";
import { decode, encode, type Fields, type Message, messagesIn, textIn } from "./protobuf.ts";
import type { Client } from "./range-life.ts";

/** The time limit of a call, in milliseconds. */
const LONGEST_CALL = 300_000;

/** The runtime service behind a socket. Numbers are those of the fields in `api.proto` of the CRI, version v1. */
export class RuntimeService {
  readonly #socket: string;

  /** @param socket the path of the runtime's socket */
  constructor(socket: string) {
    this.#socket = socket;
  }

  /**
   * Makes a pod's sandbox and attaches it to the network.
   *
   * @param name the pod's name
   * @param annotations those of the pod, which the runtime gives to a plugin that has the capability for it
   * @returns the sandbox's id
   * @throws {Error} with the runtime's message if it refuses
   */
  async runPodSandbox(
    name: string,
    annotations: Readonly<Record<string, string>>,
  ): Promise<string> {
    const config = {
      1: { 1: name, 2: `uid-of-${name}`, 3: "default" },
      2: name,
      7: Object.entries(annotations).map(([key, value]) => ({ 1: key, 2: value })),
      // Processes of the pod's containers do not see each other, as kubelet asks for it.
      8: { 1: `/${cgroupOfScenario}`, 2: { 1: { 2: 1 } } },
    };
    return textIn(await this.#call("RunPodSandbox", { 1: config }), 1);
  }

  /** The ids of all sandboxes, also of those that have been stopped. */
  async sandboxIds(): Promise<readonly string[]> {
    const response = await this.#call("ListPodSandbox");
    return messagesIn(response, 1).map((sandbox) => textIn(sandbox, 1));
  }

  /** Detaches a sandbox from the network and stops what runs in it. */
  async stopPodSandbox(id: string): Promise<void> {
    await this.#call("StopPodSandbox", { 1: id });
  }

  /** Removes a sandbox; the runtime must leave nothing of it. */
  async removePodSandbox(id: string): Promise<void> {
    await this.#call("RemovePodSandbox", { 1: id });
  }

  /** The address that the runtime reports for a sandbox. */
  async addressOf(id: string): Promise<string> {
    const response = await this.#call("PodSandboxStatus", { 1: id });
    const network = messagesIn(response, 1).flatMap((status) => messagesIn(status, 5));
    return textIn(network.at(0), 1);
  }

  /** Whether the runtime says `NetworkReady`, or else why not. */
  async networkReady(): Promise<{ readonly ready: boolean; readonly message: string }> {
    const response = await this.#call("Status");
    const condition = messagesIn(response, 1)
      .flatMap((status) => messagesIn(status, 1))
      .find((candidate) => textIn(candidate, 1) === "NetworkReady");
    return { ready: condition?.get(2)?.at(-1) === 1, message: textIn(condition, 4) };
  }

  /** The runtime's name and version. */
  async version(): Promise<string> {
    const response = await this.#call("Version");
    return `${textIn(response, 2)} ${textIn(response, 3)}`;
  }

  #call(method: string, fields: Fields = {}): Promise<Message> {
    return new Promise((settle, fail) => {
      const session = connectHttp2("http://localhost", {
        createConnection: () => connectSocket(this.#socket),
      });
      session.on("error", fail);
      const stream = session.request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: `/runtime.v1.RuntimeService/${method}`,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
        te: "trailers",
      });
      const received: Buffer[] = [];
      let ending: Readonly<Record<string, unknown>> = {};
      const noteEnding = (headers: Readonly<Record<string, unknown>>) => {
        ending = { ...ending, ...headers };
      };
      stream.setTimeout(LONGEST_CALL, () => stream.destroy(new Error(`${method} takes too long`)));
      stream.on("response", noteEnding);
      stream.on("trailers", noteEnding);
      stream.on("data", (chunk: Buffer) => received.push(chunk));
      stream.on("error", fail);
      stream.on("close", () => {
        session.close();
        const { "grpc-status": status, "grpc-message": message = "" } = ending;
        if (`${status}` !== "0") fail(new Error(decodeURIComponent(`${message}`)));
        else settle(decode(Buffer.concat(received).subarray(prefixLength)));
      });
      stream.end(framed(encode(fields)));
    });
  }
}

/** Pods over the CRI, as the kubelet makes them. */
export class Cri implements Client {
  readonly #runtime: RuntimeService;
  readonly #sandboxes = new Map<string, string>();

  /** @param runtime the runtime behind it */
  constructor({ runtime }: { readonly runtime: RuntimeService }) {
    this.#runtime = runtime;
  }

  async start(name: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#sandboxes.set(name, await this.#runtime.runPodSandbox(name, annotations));
  }

  async stop(name: string): Promise<void> {
    const id = this.#idOf(name);
    await this.#runtime.stopPodSandbox(id);
    await this.#runtime.removePodSandbox(id);
    this.#sandboxes.delete(name);
  }

  /** The address that the CRI reports for a pod. */
  addressOf(name: string): Promise<string> {
    return this.#runtime.addressOf(this.#idOf(name));
  }

  #idOf(name: string): string {
    return this.#sandboxes.get(name) ?? "";
  }
}

/** gRPC puts in front of a message whether it is compressed, and its length. */
const prefixLength = 5;

function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixLength);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
