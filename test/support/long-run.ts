/** How often a suite that kills is to do so, and from which seed its chances come. */
export type LongRun = { readonly runs: number; readonly seed: number }

/** What `npm run test:long` asks for. In `npm test` nobody asks, and such suites stay short. */
export const longRun: LongRun | undefined =
  process.env['TEST_LONG_RUNS'] === undefined
    ? undefined
    : { runs: Number(process.env['TEST_LONG_RUNS']), seed: Number(process.env['TEST_LONG_SEED']) }
