/** Jobs whose pods sleep and end. */

import type { IJob } from "kubernetes-models/batch/v1";
import { imageName } from "../clients/image.ts";
import { addressesInTwo } from "../e2e/node-namespaces.ts";
import { until } from "../harness/until.ts";
import { create, kubectl } from "./kubectl.ts";
import { podNamed } from "./pods.ts";

/** How long a Job may take, in seconds. */
const PATIENCE = 1200;

/** The differences between Jobs. */
interface JobOptions {
  readonly name: string;
  /** How many pods have to succeed. */
  readonly pods: number;
  /** How many of them run at one time. */
  readonly atOneTime: number;
  /** How long each of them sleeps. */
  readonly seconds: number;
}

/** A Job that is watched while it runs. */
export class Job {
  readonly #options: JobOptions;
  #doubled: ReadonlySet<string> = new Set();

  /** Addresses that two network namespaces have had for longer than it takes to remove an interface. */
  readonly twice = new Set<string>();

  /** @param options its options */
  constructor(options: JobOptions) {
    this.#options = options;
    create([manifestOf(options)]);
  }

  /** How many of its pods have succeeded and failed. */
  get progress(): { readonly succeeded: number; readonly failed: number } {
    const path = "--output=jsonpath={.status.succeeded},{.status.failed}";
    const [succeeded, failed] = kubectl("get", "job", this.#options.name, path).split(",");
    return { succeeded: Number(succeeded), failed: Number(failed) };
  }

  /**
   * Waits until so many pods have succeeded, and looks at the addresses in all network namespaces meanwhile.
   *
   * @param count the number; all by default
   * @param look a further look during the wait
   */
  async succeeded(count = this.#options.pods, look: () => void = () => {}): Promise<void> {
    const isReached = () => {
      const doubled = new Set(addressesInTwo());
      // ptp releases an address just before it removes the interface.
      for (const address of doubled.intersection(this.#doubled)) this.twice.add(address);
      this.#doubled = doubled;
      look();
      return this.progress.succeeded >= count;
    };
    await until(`${count} pods that have succeeded`, isReached, PATIENCE);
  }

  /** Deletes the Job with its pods. */
  delete(): void {
    kubectl("delete", "job", this.#options.name, "--cascade=foreground");
  }
}

function manifestOf({ name, pods, atOneTime, seconds }: JobOptions): IJob {
  const command = ["sleep", `${seconds}`];
  const { spec } = podNamed(name, {
    restartPolicy: "Never",
    containers: [{ name: "main", image: imageName, imagePullPolicy: "Never", command }],
  });
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name },
    spec: {
      completions: pods,
      parallelism: atOneTime,
      backoffLimit: pods,
      template: { spec: spec ?? { containers: [] } },
    },
  };
}
