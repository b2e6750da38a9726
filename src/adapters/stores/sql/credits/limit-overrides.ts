import { isMetric, type LimitOverride, type OverrideStore } from '../../../../domain/limits/overrides.ts'
import { limitScopes, type LimitScope, type ScopeLimits } from '../../../../domain/limits/scopes.ts'
import type { Transaction } from '../database.ts'

type OverrideRow = { scope: string; subject_id: string; limits: string }

/** Limit overrides in SQL, inside the given transaction. */
export function overrideStore(tx: Transaction): OverrideStore {
  return {
    async list(organizationId) {
      const sql = 'select scope, subject_id, limits from limit_override where organization_id = $1'
      return (await tx.query<OverrideRow>(sql, [organizationId])).map(overrideOf)
    },
    async set(organizationId, { scope, subjectId, limits }) {
      const subject = [organizationId, scope, subjectId]
      await tx.run('delete from limit_override where organization_id = $1 and scope = $2 and subject_id = $3', subject)
      if (Object.keys(limits).length === 0) return
      await tx.run('insert into limit_override (organization_id, scope, subject_id, limits) values ($1, $2, $3, $4)', [
        ...subject,
        JSON.stringify(limits),
      ])
    },
  }
}

const overrideOf = (row: OverrideRow): LimitOverride => ({
  scope: scopeOf(row.scope),
  subjectId: row.subject_id,
  limits: limitsOf(row.limits),
})

const scopeOf = (text: string): LimitScope => limitScopes.find((scope) => scope === text) ?? 'organization'

function limitsOf(json: string): Partial<ScopeLimits> {
  const value: unknown = JSON.parse(json)
  const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return Object.fromEntries(pairs.filter(([name, limit]) => isMetric(name) && typeof limit === 'number'))
}
