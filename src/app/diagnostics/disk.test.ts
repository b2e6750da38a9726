import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StorageBody } from '../../http/operator/storage.ts'
import { checkDisk, diagnoseDisk } from './disk.ts'

const gigabyte = 1e9

const roomy: StorageBody = {
  engine: 'embedded',
  database_bytes: 40 * gigabyte,
  disk_bytes: 100 * gigabyte,
  disk_free_bytes: 20 * gigabyte,
  requests_last_week: 6_000_000,
  growth_bytes: 13.2 * gigabyte,
}

describe('the disk that the doctor checks', () => {
  it('is fine with space for more than the growth of a week, and the figures are shown', () => {
    assert.deepEqual(diagnoseDisk(roomy), {
      part: 'disk',
      state: 'ok',
      message:
        '20.0 GB of 100.0 GB are free; the database has 40.0 GB, and 6,000,000 requests in the last 7 days make it grow by 13.2 GB a week',
    })
  })

  it('gets a warning if the requests of a week fill it, with what to do', () => {
    const { state, message, fix = '' } = diagnoseDisk({ ...roomy, disk_free_bytes: 12 * gigabyte })
    assert.equal(state, 'warning')
    assert.match(message, /^it will be full within a week: 12\.0 GB of 100\.0 GB are free; .* grow by 13\.2 GB a week$/)
    for (const way of ['audit.retention_days', 'gatehouse compact', 'larger disk', 'PostgreSQL'])
      assert.ok(fix.includes(way), way)
  })

  it('gets a warning below a tenth or a gigabyte, however slowly the database grows', () => {
    const slow = { ...roomy, growth_bytes: 0 }
    assert.equal(diagnoseDisk({ ...slow, disk_free_bytes: 9.9 * gigabyte }).state, 'warning')
    assert.equal(diagnoseDisk({ ...slow, disk_bytes: 2 * gigabyte, disk_free_bytes: 0.9 * gigabyte }).state, 'warning')
    assert.equal(diagnoseDisk({ ...slow, disk_bytes: 2 * gigabyte, disk_free_bytes: 1.1 * gigabyte }).state, 'ok')
  })

  it('gets a warning if its figures cannot be read, which is no failure of the storage', async () => {
    const { state, message } = await checkDisk({ get: () => Promise.reject(new Error('The report takes too long.')) })
    assert.deepEqual([state, /could not be read: The report takes too long\./.test(message)], ['warning', true])
  })

  it('is not compared with the growth of PostgreSQL, which has a disk of its own', () => {
    const shared = { ...roomy, engine: 'postgresql', growth_bytes: 900 * gigabyte } as const
    assert.deepEqual(diagnoseDisk(shared), {
      part: 'disk',
      state: 'ok',
      message: '20.0 GB of 100.0 GB are free for what waits for PostgreSQL; its own disk is not checked',
    })
    const low = diagnoseDisk({ ...shared, disk_free_bytes: gigabyte / 2 })
    assert.deepEqual([low.state, low.fix?.includes('data folder')], ['warning', true])
  })
})
