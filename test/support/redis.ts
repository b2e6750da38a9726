/** The tests' Redis. Suites run side by side on it: keys must carry something of the suite's own, such as a random id. */
export const redisUrl = process.env.TEST_REDIS_URL

/** Why a suite that needs Redis is skipped, or false: `describe('…', { skip: withoutRedis }, …)`. */
export const withoutRedis = redisUrl ? false : 'needs Redis; TEST_REDIS_URL is not set'
