import assert from 'node:assert/strict'
import { it } from 'node:test'
import { auditReads } from '../../src/adapters/stores/sql/audit/events.ts'
import type { DatabaseRow, Value } from '../../src/adapters/stores/sql/database.ts'
import type { AuditFilter } from '../../src/domain/audit/log.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { engines } from '../support/engines.ts'

const filters: readonly AuditFilter[] = [
  {},
  { fromMs: 1 },
  { toMs: 2 },
  { fromMs: 1, toMs: 2, projectId: 'proj_1' },
  { requestId: 'req_1' },
  { actorId: 'key_1' },
  { resourceId: 'sink_1' },
  { policyId: 'pol_1', fromMs: 1 },
  { decision: 'refuse', toMs: 2 },
]

it('every list query reads its page through an index, without sorting and without a full scan', async () => {
  const sqlite = engines.find(({ name }) => name === 'SQLite')
  assert.ok(sqlite)
  await using database = await sqlite.open()
  await openAuditLog(database)
  const plans: string[] = []
  const query = async <R extends DatabaseRow>(sql: string, params: readonly Value[] = []): Promise<R[]> => {
    const steps = await database.read<{ detail: string }>(`explain query plan ${sql}`, params)
    plans.push(...steps.map(({ detail }) => detail))
    return []
  }
  for (const filter of filters) await auditReads({ query }).list('org_1', filter, { limit: 20, order: 'desc' })
  assert.ok(plans.length >= filters.length)
  assert.deepEqual(
    plans.filter((step) => /SCAN (?!CONSTANT)|TEMP B-TREE/.test(step)),
    [],
  )
  // There is a checkpoint each minute, so a search of all of them is a scan of months.
  const ofCheckpoints = plans.filter((step) => step.startsWith('SEARCH p '))
  assert.ok(ofCheckpoints.length > 0)
  assert.deepEqual(
    ofCheckpoints.filter((step) => !/audit_checkpoint_time \(organization_id=\? AND time[<>]\?\)/.test(step)),
    [],
  )
})
