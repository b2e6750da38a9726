/** The server that the suites share; each uses organizations of its own in it. */
export const redisUrl = process.env['TEST_REDIS_URL'] ?? ''

if (redisUrl === '' && process.env['CI'] === 'true') throw new Error('TEST_REDIS_URL is not set')

/** Why a suite that needs the server is skipped; false where it runs. */
export const noRedis: string | false = redisUrl === '' ? 'TEST_REDIS_URL is not set' : false
