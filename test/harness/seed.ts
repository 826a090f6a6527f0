/** The seed of random runs: fixed, so that one commit has one outcome; `HOST_LOCAL_SEED` explores others. */

export const seed = Number(process.env.HOST_LOCAL_SEED ?? 20261121);
