// The seed of the short forms: the same inputs on every run, unless others are asked for.

export const TEST_SEED = Number(process.env.TEST_SEED ?? 20_261_115);
