import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ConfigError } from './config.ts'
import { workerCount } from './worker-count.ts'

const both = { database_url: 'postgres://host/name', redis_url: 'redis://host' }
const countOf = (workers: number | 'auto', storage: object): number =>
  workerCount({ server: { workers }, storage: { ...storage } }, 8)

describe('the number of workers', () => {
  it('is the number of cores with auto, PostgreSQL and Redis', () => {
    assert.equal(countOf('auto', both), 8)
  })

  it('is one with auto if PostgreSQL or Redis is missing', () => {
    assert.deepEqual([countOf('auto', {}), countOf('auto', { database_url: both.database_url })], [1, 1])
  })

  it('is what the configuration says if the storage is shared', () => {
    assert.deepEqual([countOf(1, both), countOf(3, both), countOf(1, {})], [1, 3, 1])
  })

  it('must not be more than one without PostgreSQL or without Redis', () => {
    const refuses = (storage: object, reason: RegExp): void =>
      assert.throws(
        () => countOf(2, storage),
        (error: unknown) => error instanceof ConfigError && reason.test(error.message),
      )
    refuses({}, /server\.workers: 2 workers need PostgreSQL \(storage\.database_url\)/)
    refuses({ redis_url: both.redis_url }, /need PostgreSQL/)
    refuses({ database_url: both.database_url }, /server\.workers: 2 workers need Redis \(storage\.redis_url\)/)
  })
})
