import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Charge } from '../../../../domain/credits/charge.ts'
import type { Database, WriteOptions } from '../database.ts'
import { writeCharges } from './charges.ts'

const charge = (requestId: string, sliceId: string | null): Charge => ({
  requestId,
  organizationId: 'org_1',
  projectId: 'proj_1',
  keyId: 'key_1',
  model: 'm',
  atMs: 1,
  outcome: 'answered',
  sliceId,
  micro: sliceId === null ? 0 : 5,
  usage: { inputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, source: 'reported' },
  rates: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 0, version: 'v' },
})

it('only charges that move credits wait for the disk', async () => {
  assert.equal(await waitsForDisk([charge('a', null), charge('b', null)]), false)
  assert.equal(await waitsForDisk([charge('a', null), charge('b', 'slice_1')]), true)
})

/** The options of the first write. The write itself does not happen. */
async function waitsForDisk(charges: readonly Charge[]): Promise<boolean> {
  const seen: WriteOptions[] = []
  const enough = new Error('enough')
  const database: Database = {
    engine: 'sqlite',
    read: () => Promise.reject(enough),
    report: () => Promise.reject(enough),
    figures: () => assert.fail('not read'),
    writeAfter: () => Promise.reject(enough),
    transaction: () => Promise.reject(enough),
    write(_, options = {}) {
      seen.push(options)
      return Promise.reject(enough)
    },
    async [Symbol.asyncDispose]() {},
  }
  await assert.rejects(
    writeCharges(database, (prefix) => `${prefix}_1`, charges),
    enough,
  )
  return seen[0]?.waitsForDisk ?? true
}
