import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditLogStore } from '../../src/adapters/stores/sql/audit-log.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import type { AuditEntry, AuditFilter } from '../../src/domain/identity/audit-log.ts'
import type { Engine } from '../support/engines.ts'

const actor = { organizationId: 'org_1', kind: 'admin_key', credentialId: 'adk_1', requestId: 'req_1' } as const
const policyChange: AuditEntry = {
  id: 'evt_1',
  actor,
  atMs: 1_000,
  kind: 'policy.updated',
  resourceId: 'pol_1',
  policyId: 'pol_1',
  oldRevision: 1,
  newRevision: 2,
  details: { rule: 'Say "no"\n😀', nested: { list: [1, null] } },
}
const keyChange: AuditEntry = {
  id: 'evt_2',
  actor: { ...actor, kind: 'operator', credentialId: null, requestId: null },
  atMs: 2_000,
  kind: 'api_key.created',
  resourceId: 'key_1',
  projectId: 'proj_1',
  details: {},
}
const foreign: AuditEntry = { ...policyChange, id: 'evt_3', actor: { ...actor, organizationId: 'org_2' } }

/** Every audit log must pass these. */
export function auditLogContract({ name, skip, open }: Engine): void {
  describe(`audit log: ${name}`, { skip }, () => {
    it('gives back each entry as it was, newest first, and those of its organization alone', async () => {
      await using log = await openLog(open)
      assert.deepEqual(await log.list({}), [keyChange, policyChange])
      assert.deepEqual(await log.list({}, 'org_2'), [foreign])
    })

    const filters: [AuditFilter, AuditEntry[]][] = [
      [{ kind: 'policy.updated' }, [policyChange]],
      [{ kind: 'policy.deleted' }, []],
      [{ policyId: 'pol_1' }, [policyChange]],
      [{ projectId: 'proj_1' }, [keyChange]],
      [{ requestId: 'req_1' }, [policyChange]],
      [{ requestId: 'req_1', kind: 'api_key.created' }, []],
    ]
    for (const [filter, found] of filters) {
      it(`filters by ${JSON.stringify(filter)}`, async () => {
        await using log = await openLog(open)
        assert.deepEqual(await log.list(filter), found)
      })
    }
  })
}

async function openLog(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  await database.transaction(async (tx) => {
    for (const entry of [policyChange, keyChange, foreign]) await auditLogStore(tx).append(entry)
  })
  return {
    list: async (filter: AuditFilter, organizationId = 'org_1') =>
      (await database.transaction((tx) => auditLogStore(tx).list(organizationId, filter, { limit: 9, order: 'desc' })))
        .items,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
