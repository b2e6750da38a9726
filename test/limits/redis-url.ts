/** The server that the suites share; each uses organizations of its own in it. */
export const redisUrl = process.env['TEST_REDIS_URL'] ?? ''

/** Why a suite that needs it is skipped; false where it runs. With `CI=true` it runs, and fails without a server. */
export const noRedis: string | false =
  redisUrl !== '' || process.env['CI'] === 'true' ? false : 'TEST_REDIS_URL is not set'
