/** The tests' Redis. Suites run concurrently on it, so keys must contain something unique to the suite, such as a random id. */
export const redisUrl = process.env.TEST_REDIS_URL

/** Why a suite that needs Redis is skipped, or false: `describe('…', { skip: withoutRedis }, …)`. */
export const withoutRedis = redisUrl ? false : 'needs Redis; TEST_REDIS_URL is not set'
