import type { Clock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { auditReads } from '../../src/adapters/stores/sql/audit/events.ts'
import { createAuditAppender } from '../../src/adapters/stores/sql/audit/chain.ts'
import type { CheckpointParts } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { createAuditParts } from '../../src/app/audit-parts.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import { verifyLog, type VerifyRange } from '../../src/domain/audit/verify-log.ts'

/** A clock that a test sets by hand. Its timers never fire. */
export type SetClock = Clock & { setMs(ms: number): void; passMs(ms: number): void }

export function setClock(startMs = Date.UTC(2026, 0, 1)): SetClock {
  let nowMs = startMs
  return {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: () => () => {},
    setMs: (ms) => void (nowMs = ms),
    passMs: (ms) => void (nowMs += ms),
  }
}

/** The audit log of a database with these organizations. */
export async function openAuditLog(database: Database, clock = setClock(), organizations = ['org_1', 'org_2']) {
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(organizations.map((id) => ({ sql: insert, params: [id] })))
  const { events, keys, trustedKeys, textsKeys } = createAuditParts({
    clock,
    ids: createIds(clock, systemRandom),
    keyring: createKeyring({ current: 'a secret for tests' }),
  })
  const reads = auditReads(
    { query: (sql, params) => database.read(sql, params) },
    { isPartitioned: database.engine === 'postgres' },
  )
  const appender = createAuditAppender(database, events)
  const rewritten: string[] = []
  const late: string[] = []
  const checkpoints: CheckpointParts = {
    database,
    clock,
    events,
    keys,
    signed: new Map(),
    onRewritten: (organizationId) => rewritten.push(organizationId),
    onLate: (organizationId) => late.push(organizationId),
    onAppended: appender.setHead,
  }
  const verifyInput = () => ({ keys: trustedKeys(), textsKeys: textsKeys(), nowMs: clock.nowMs() })
  return {
    clock,
    reads,
    events,
    appender,
    checkpoints,
    /** Organizations whose chain was not signed because it was rewritten. */
    rewritten,
    /** Organizations with events that were signed late. */
    late,
    /** Appends this number of plain requests, or events with these facts. */
    append: (count: number, facts: Partial<EventFacts> = {}, organizationId = 'org_1') =>
      appender.append(
        organizationId,
        Array.from({ length: count }, (_, at) =>
          events.makeEvent(requestFacts({ organizationId, message: `event ${at}`, ...facts }, clock)),
        ),
      ),
    verifyInput,
    verify: (organizationId = 'org_1', range: VerifyRange = {}) =>
      verifyLog(reads, organizationId, { ...verifyInput(), range }),
  }
}

/** A request that was allowed. */
export const requestFacts = (facts: Partial<EventFacts>, clock: Clock): EventFacts => ({
  code: 'gateway.request.decided',
  organizationId: 'org_1',
  timeMs: clock.nowMs(),
  message: 'Allowed a request.',
  projectId: 'proj_1',
  verdict: { decision: 'allow', isEnforced: true },
  model: { provider: 'local', name: 'default-model' },
  ...facts,
})
