import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { auditLogStore } from '../../src/adapters/stores/sql/audit/log.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { hourMs } from '../../src/base/clock.ts'
import type { AuditContent } from '../../src/domain/audit/event/content.ts'
import type { AuditFilter } from '../../src/domain/audit/log.ts'
import type { AuditEntry } from '../../src/domain/mutations/audit-log.ts'
import { openAuditLog } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'
import { rejectsWith } from '../support/rejects-with.ts'

const actor = { organizationId: 'org_1', kind: 'admin_key', credentialId: 'adk_1', requestId: 'req_1' } as const
const policyChange: AuditEntry = {
  id: 'evt_policy',
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
  id: 'evt_key',
  actor: { ...actor, kind: 'operator', credentialId: null, requestId: null },
  atMs: 2_000,
  kind: 'api_key.created',
  resourceId: 'key_1',
  projectId: 'proj_1',
  details: {},
}
const foreign: AuditEntry = { ...policyChange, id: 'evt_foreign', actor: { ...actor, organizationId: 'org_2' } }

/** Queries of the audit log, on every engine. */
export function auditListContract({ name, skip, open }: Engine): void {
  describe(`audit list: ${name}`, { skip }, () => {
    it('lists administrators’ mutations with all details in the content and no rule in the document', async () => {
      await using scene = await openScene(open)
      const { items } = await scene.list({ code: 'policy.updated' })
      assert.deepEqual(items[0]?.content, { details: policyChange.details, full: { rule: 'Say "no"\n😀' } })
      const { changes, ...words } = items[0]?.document.unmapped.gatehouse ?? {}
      assert.deepEqual(changes, { nested: { list: [1, null] } })
      assert.deepEqual([words['old_revision'], words['new_revision'], words['resource_id']], [1, 2, 'pol_1'])
    })

    it('reads the texts of requests only if they are requested', async () => {
      await using scene = await openScene(open)
      const content = { full: { prompt: 'user: hello' } }
      await scene.append('long', 5_000, content)
      const texts = async (withTexts: boolean) => (await scene.events(withTexts)).at(-1)?.content
      const { items } = await scene.list({})
      assert.deepEqual([items[0]?.id, items[0]?.content, await texts(false)], ['long', undefined, undefined])
      assert.deepEqual(await texts(true), content)
    })

    const filters: [AuditFilter, string[]][] = [
      [{}, ['refused', 'allowed', 'evt_key', 'evt_policy']],
      [{ code: 'policy.updated' }, ['evt_policy']],
      [{ code: 'policy.deleted' }, []],
      [{ code: 'gateway.request.decided' }, ['refused', 'allowed']],
      [{ family: 'gateway' }, ['refused', 'allowed']],
      [{ family: 'admin' }, ['evt_key']],
      [{ withoutRequests: true }, ['evt_key', 'evt_policy']],
      [{ withoutRequests: true, projectId: 'proj_1' }, ['evt_key']],
      [{ withoutRequests: true, code: 'gateway.request.decided' }, []],
      [{ withoutRequests: true, fromMs: 2_000 }, ['evt_key']],
      [{ policyId: 'pol_1' }, ['refused', 'evt_policy']],
      [{ projectId: 'proj_1' }, ['refused', 'allowed', 'evt_key']],
      [{ resourceId: 'key_1' }, ['evt_key']],
      [{ resourceId: 'pol_1', code: 'policy.deleted' }, []],
      [{ requestId: 'req_1' }, ['evt_policy']],
      [{ requestId: 'req_1', code: 'admin.api_key.created' }, []],
      [{ decision: 'allow' }, ['allowed']],
      [{ decision: 'refuse' }, ['refused']],
      [{ userId: 'ada' }, ['refused']],
      [{ actorId: 'adk_1' }, ['evt_policy']],
      [{ actorId: 'adk_1', code: 'policy.deleted' }, []],
      [{ actorId: 'adk_2' }, []],
      [{ fromMs: 2_000 }, ['refused', 'allowed', 'evt_key']],
      [{ toMs: 2_000 }, ['evt_policy']],
      [{ fromMs: 1_000, toMs: 2_001, policyId: 'pol_1' }, ['evt_policy']],
    ]
    it('applies every filter, and all of them together', async () => {
      await using scene = await openScene(open)
      for (const [filter, matching] of filters) {
        const { items } = await scene.list(filter)
        assert.deepEqual(
          items.map(({ id }) => id),
          matching,
          JSON.stringify(filter),
        )
      }
    })

    it('leaves out the signatures of the log if asked to', async () => {
      await using scene = await openScene(open)
      await scene.appendCheckpoint('signed', 5_000)
      const matching = async (filter: AuditFilter): Promise<string[]> =>
        (await scene.list({ withoutRequests: true, ...filter })).items.map(({ id }) => id)
      assert.deepEqual(await matching({}), ['signed', 'evt_key', 'evt_policy'])
      assert.deepEqual(await matching({ withoutCheckpoints: true }), ['evt_key', 'evt_policy'])
    })

    it('filters by time, even if an event was written long after it happened', async () => {
      await using scene = await openScene(open)
      await scene.append('late', 1_500)
      const matching = async (filter: AuditFilter): Promise<string[]> =>
        (await scene.list(filter)).items.map(({ id }) => id)
      assert.deepEqual(await matching({ toMs: 2_001 }), ['late', 'evt_key', 'evt_policy'])
      assert.deepEqual(await matching({ fromMs: 2_000 }), ['refused', 'allowed', 'evt_key'])
      assert.deepEqual(await matching({ fromMs: 1_400, toMs: 1_600 }), ['late'])
      assert.deepEqual(await matching({ fromMs: 5_000 }), [])
    })

    it('finds the events of a period between checkpoints, even if they were written hours late', async () => {
      await using scene = await openScene(open)
      const atHours = (hours: number): number => hours * hourMs
      await scene.append('first', atHours(100))
      await scene.sign(5, atHours(101))
      await scene.append('second', atHours(120))
      await scene.append('late', atHours(99))
      await scene.sign(7, atHours(121))
      await scene.append('last', atHours(200))
      await scene.sign(8, atHours(201))
      const matching = async (filter: AuditFilter): Promise<string[]> =>
        (await scene.list(filter)).items.map(({ id }) => id)
      assert.deepEqual(await matching({ fromMs: atHours(98), toMs: atHours(101) }), ['late', 'first'])
      assert.deepEqual(await matching({ fromMs: atHours(120) }), ['last', 'second'])
      assert.deepEqual(await matching({ fromMs: atHours(150), toMs: atHours(300) }), ['last'])
      assert.deepEqual(await matching({ fromMs: 5_000, toMs: atHours(110) }), ['late', 'first'])
    })

    it('continues after the event of a cursor, and rejects a cursor of another organization', async () => {
      await using scene = await openScene(open)
      const { items, hasMore } = await scene.list({ projectId: 'proj_1' }, { after: 'refused', limit: 1 })
      assert.deepEqual([items.map(({ id }) => id), hasMore], [['allowed'], true])
      await assert.rejects(scene.list({}, { after: 'evt_foreign' }), rejectsWith('invalid_cursor'))
      assert.deepEqual(
        (await scene.list({}, {}, 'org_2')).items.map(({ id }) => id),
        ['evt_foreign'],
      )
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const log = await openAuditLog(database)
  await database.transaction(async (tx) => {
    for (const entry of [policyChange, keyChange, foreign]) await auditLogStore(tx, log.events).append(entry)
  })
  const verdict = { decision: 'refuse', isEnforced: true, policy: { id: 'pol_1' } } as const
  const request = {
    code: 'gateway.request.decided',
    organizationId: 'org_1',
    message: 'm',
    projectId: 'proj_1',
  } as const
  await log.appender.append('org_1', [
    log.events.makeEvent({ ...request, timeMs: 3_000, verdict: { decision: 'allow', isEnforced: true } }, 'allowed'),
    log.events.makeEvent({ ...request, timeMs: 4_000, verdict, actor: { userId: 'ada' } }, 'refused'),
  ])
  return {
    append: (id: string, timeMs: number, content?: AuditContent) =>
      log.appender.append('org_1', [log.events.makeEvent({ ...request, timeMs, content }, id)]),
    appendCheckpoint: (id: string, timeMs: number) =>
      log.appender.append('org_1', [log.events.makeEvent({ ...request, code: 'audit.checkpoint', timeMs }, id)]),
    sign: (sequence: number, timeMs: number) =>
      database.write([
        { sql: `insert into audit_checkpoint values ('org_1', $1, $2, '{}')`, params: [sequence, timeMs] },
      ]),
    events: (withTexts: boolean) => log.reads.events('org_1', { after: 0, limit: 9, withTexts }),
    list: (filter: AuditFilter, page: { after?: string; limit?: number } = {}, organizationId = 'org_1') =>
      log.reads.list(organizationId, filter, { limit: 9, order: 'desc', ...page }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
