/** Seed of generated test input: the same input on every run, unless TEST_SEED is set. */
export const TEST_SEED = Number(process.env.TEST_SEED ?? 20_261_115);
