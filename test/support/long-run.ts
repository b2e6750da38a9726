/** How often a crash suite injects its fault, how long a soak lasts, and the seed of what is random. */
export type LongRun = { readonly runs: number; readonly minutes: number; readonly seed: number }

const { TEST_LONG_RUNS: runs, TEST_LONG_MINUTES: minutes, TEST_LONG_SEED: seed } = process.env

/** Set by `npm run test:long`. Without it, as in `npm test`, these suites are short. */
export const longRun: LongRun | undefined =
  runs === undefined ? undefined : { runs: Number(runs), minutes: Number(minutes), seed: Number(seed) }
