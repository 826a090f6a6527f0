/**
 * The credentials by which the programs of the cluster know each other: a token for each, and the certificate that the API
 * server makes.
 */

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const directory = "/run/kubernetes";

/** The address of the node, and of the API server on it. */
export const nodeAddress = "10.219.12.10";

/** The second address of a node in a dual-stack cluster. */
export const secondNodeAddress = "fd00:219:12::10";

/** The users of the API and their groups, by which it authorizes them. */
const groups = {
  admin: ["system:masters"],
  "system:kube-controller-manager": [],
  "system:kube-scheduler": [],
  "system:node:n1": ["system:nodes"],
} as const;

/** A user of the API. */
export type User = keyof typeof groups;

const users = Object.keys(groups).filter((name): name is User => name in groups);

/** Paths of files for the API server. */
export const credentialFiles = {
  tokens: join(directory, "tokens.csv"),
  /** The directory in which the API server puts the certificate that it makes for itself. */
  certificates: join(directory, "certificates"),
  /** The key that signs the tokens of service accounts. */
  privateKey: join(directory, "service-accounts.key"),
  publicKey: join(directory, "service-accounts.pub"),
} as const;

/** Writes the credentials, and a kubeconfig for each user. */
export function writeCredentials(): void {
  mkdirSync(directory, { mode: 0o700 });
  const tokens = users.map((user) => ({ user, token: randomUUID() }));
  writeFileSync(
    credentialFiles.tokens,
    tokens
      .map(({ user, token }) => `${token},${user},${user},"${groups[user].join(",")}"\n`)
      .join(""),
  );
  for (const { user, token } of tokens) writeKubeconfig(user, token);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  writeFileSync(credentialFiles.publicKey, publicKey);
  writeFileSync(credentialFiles.privateKey, privateKey);
}

/** The file with which a user reaches the API. */
export function kubeconfigOf(user: User): string {
  return join(directory, `${user.replaceAll(":", "-")}.conf`);
}

function writeKubeconfig(user: User, token: string): void {
  const cluster = {
    server: `https://${nodeAddress}:6443`,
    "certificate-authority": join(credentialFiles.certificates, "apiserver.crt"),
  };
  const kubeconfig = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "cluster", cluster }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "cluster", context: { cluster: "cluster", user } }],
    "current-context": "cluster",
  };
  writeFileSync(kubeconfigOf(user), JSON.stringify(kubeconfig));
}
