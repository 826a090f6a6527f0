/** The seed of random runs. It is fixed, so that a commit has one outcome; `HOST_LOCAL_SEED` explores others. */

export const seed = Number(process.env.HOST_LOCAL_SEED ?? 20261121);
