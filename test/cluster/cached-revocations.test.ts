import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createChange, createChangePoll } from '../../src/adapters/stores/sql/change.ts'
import { DatabaseError, type Database } from '../../src/adapters/stores/sql/database.ts'
import { createChanges } from '../../src/domain/mutations/changes.ts'
import { engines } from '../support/engines.ts'
import { createHandClock } from '../support/hand-clock.ts'

/** An organization with a project, a key and an administrator key. */
async function prepare(database: Database): Promise<void> {
  const key = "'k', 'org_1', 'x', '', '[]', 1"
  await database.write([
    { sql: "insert into organization (id, name, changed_at, created_at) values ('org_1', 'One', 1, 1)" },
    { sql: "insert into project (id, organization_id, name, created_at) values ('proj_1', 'org_1', 'P', 1)" },
    {
      sql: `insert into api_key (name, organization_id, digest, redacted_value, permissions, created_at, id, project_id)
        values (${key}, 'key_1', 'proj_1')`,
    },
    {
      sql: `insert into admin_key (name, organization_id, digest, redacted_value, permissions, created_at, id)
        values (${key}, 'adm_1')`,
    },
  ])
}

/** A rotation whose replaced secret ends at once. */
function rotationOf(table: string): string {
  return `update ${table} set secret_number = 2, previous_digest = 'old', previous_expires_at = $1`
}

const revocations = [
  { id: 'key_1 1', sql: rotationOf('api_key') },
  { id: 'adm_1 1', sql: rotationOf('admin_key') },
  { id: 'key_1', sql: "update api_key set revoked_at = $1 where id = 'key_1'" },
  { id: 'adm_1', sql: "update admin_key set revoked_at = $1 where id = 'adm_1'" },
  { id: 'proj_1', sql: "update project set archived_at = $1 where id = 'proj_1'" },
]

/** A database that fails some reads. */
function failingReads(database: Database, fails: (sql: string) => boolean) {
  return {
    ...database,
    read: (async (sql, params) => {
      if (fails(sql)) throw new DatabaseError('unavailable', 'away')
      return database.read(sql, params)
    }) as Database['read'],
  }
}

for (const { name, skip, open } of engines) {
  describe(`a revocation, on ${name}`, { skip }, () => {
    for (const { id, sql } of revocations) {
      it(`is known at once on the node that revoked ${id}`, async () => {
        await using database = await open()
        await prepare(database)
        const { clock, advance } = createHandClock()
        advance(1_000_000)
        const changes = createChanges(clock)
        const change = createChange({ database, clock, changes, open: (tx) => tx })
        await change('org_1', async () => undefined)
        assert.equal(changes.isRevoked(id), false)
        await change('org_1', (tx) => tx.run(sql, [clock.nowMs()]))
        assert.equal(changes.isRevoked(id), true)
      })
    }

    it('names the secret that a second rotation ended, and not the one in its grace time', async () => {
      await using database = await open()
      await prepare(database)
      const { clock, advance } = createHandClock()
      advance(1_000_000)
      const changes = createChanges(clock)
      const change = createChange({ database, clock, changes, open: (tx) => tx })
      const sql = "update api_key set secret_number = 3, previous_digest = 'old', previous_expires_at = $1"
      await change('org_1', (tx) => tx.run(sql, [clock.nowMs() + 60_000]))
      const isEnded = (): boolean[] => [1, 2, 3].map((number) => changes.isRevoked(`key_1 ${number}`))
      assert.deepEqual(isEnded(), [true, false, false])
      advance(60_000)
      await change('org_1', async () => undefined)
      assert.deepEqual(isEnded(), [true, true, false])
    })

    it('reaches another node in the same poll as its change, or neither does', async () => {
      await using database = await open()
      await prepare(database)
      const { clock, advance } = createHandClock()
      advance(1_000_000)
      const changes = createChanges(clock)
      let isAway = false
      const watched = failingReads(database, (sql) => isAway && sql.includes('revoked_at'))
      const poll = await createChangePoll({ database: watched, clock, changes })
      const other = createChange({ database, clock, changes: createChanges(clock), open: (tx) => tx })
      await other('org_1', (tx) => tx.run(revocations.at(-1)?.sql ?? '', [clock.nowMs()]))

      isAway = true
      await assert.rejects(poll())
      assert.deepEqual([changes.count(), changes.isRevoked('proj_1')], [0, false])

      isAway = false
      await poll()
      assert.deepEqual([changes.count(), changes.isRevoked('proj_1')], [1, true])
    })
  })
}
