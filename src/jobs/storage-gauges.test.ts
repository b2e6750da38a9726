import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dayMs, systemClock } from '../base/clock.ts'
import { createMetrics } from '../base/metrics.ts'
import { createStorageGauges, type StorageGaugeParts } from './storage-gauges.ts'

const nowMs = 100 * dayMs

function startScene(parts: Partial<StorageGaugeParts> = {}) {
  const metrics = createMetrics()
  const measure = createStorageGauges({
    clock: { ...systemClock, nowMs: () => nowMs },
    metrics,
    retentionMs: 30 * dayMs,
    readFreeBytes: async () => 5_000,
    readDatabaseBytes: async () => 7_000,
    readOldest: async () => ({ eventAtMs: nowMs - 31 * dayMs, deltaAtMs: nowMs - 2_000 }),
    ...parts,
  })
  const values = (): string[] =>
    metrics
      .expose()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
  return { measure, values }
}

describe('the gauges of storage', () => {
  it('have no value before they are measured, and then the sizes and lags', async () => {
    const { measure, values } = startScene()
    assert.deepEqual(values(), [])
    await measure()
    assert.deepEqual(values(), [
      'gatehouse_storage_disk_free_bytes 5000',
      'gatehouse_storage_bytes 7000',
      'gatehouse_audit_retention_lag_seconds 86400',
      'gatehouse_rollup_lag_seconds 2',
    ])
  })

  it('have no lag if no event is older than the retention period and nothing waits to be folded', async () => {
    const { measure, values } = startScene({
      readOldest: async () => ({ eventAtMs: nowMs - 29 * dayMs, deltaAtMs: null }),
    })
    await measure()
    assert.deepEqual(values().slice(2), ['gatehouse_audit_retention_lag_seconds 0', 'gatehouse_rollup_lag_seconds 0'])
  })

  it('keep their last values while the database is down, except for the free disk, which is measured', async () => {
    let isDown = false
    let freeBytes = 5_000
    const { measure, values } = startScene({
      readFreeBytes: async () => freeBytes,
      readDatabaseBytes: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve(7_000)),
    })
    await measure()
    isDown = true
    freeBytes = 4_000
    await assert.rejects(measure(), /down/)
    assert.deepEqual(values().slice(0, 2), ['gatehouse_storage_disk_free_bytes 4000', 'gatehouse_storage_bytes 7000'])
  })
})
