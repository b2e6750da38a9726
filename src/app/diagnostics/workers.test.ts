import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../config/config.ts'
import { checkWorkers } from './workers.ts'

const shared = { DATABASE_URL: 'postgres://127.0.0.1/x', REDIS_URL: 'redis://127.0.0.1' }
const check = (env: Readonly<Record<string, string>>, metrics?: string) => checkWorkers(readConfig(env), metrics, 4)

describe('the workers that the doctor lists', () => {
  it('are none if one process is configured, and explained if auto starts only one', () => {
    assert.deepEqual(check(shared), [])
    const [only] = check({ GATEHOUSE_WORKERS: 'auto' })
    assert.deepEqual([only?.state, only?.message], ['ok', '1 worker on 4 cores: more need PostgreSQL and Redis'])
  })

  it('are wrong if the storage does not allow several', () => {
    const [found] = check({ GATEHOUSE_WORKERS: '2' })
    assert.equal(found?.state, 'wrong')
    assert.match(found.message, /server\.workers: 2 workers need PostgreSQL/)
  })

  it('warn about one that does not answer, and tell how often one was started again', () => {
    const env = { ...shared, GATEHOUSE_WORKERS: 'auto' }
    const up = 'gatehouse_worker_up{worker="1"} 1\n'
    assert.equal(check(env)[0]?.message, '4 workers on 4 cores')
    assert.equal(check(env, up)[0]?.message, '4 workers on 4 cores, all answer')
    const restarts = 'gatehouse_worker_restarts_total{worker="2"} 3\n'
    const [found] = check(env, `${up}gatehouse_worker_up{worker="2"} 0\n${restarts}`)
    assert.equal(found?.state, 'warning')
    assert.equal(found.message, '4 workers on 4 cores, without an answer: 2; 3 restarts after a crash')
  })
})
