import type { Encryption } from '../../../../base/encryption.ts'
import {
  appealClaims,
  appealOrigins,
  appealStates,
  type Appeal,
  type AppealFilter,
  type AppealStore,
  type ClosedAppeals,
  type FindDueAppeals,
} from '../../../../domain/appeals/appeal.ts'
import { checks } from '../../../../domain/audit/event/verdict.ts'
import type { Database, Transaction } from '../database.ts'
import { countRows, selectPage, type Condition } from '../page.ts'
import { insertLabel, labelsOf, listLabels } from './labels.ts'

const columns =
  'id, organization_id, event_id, request_id, project_id, policy_id, policy_version, deciding_check, direction, claim, origin, opened_by, sealed_note, state, case_id, opened_at, expires_at, closed_at, closed_by, sealed_reason'

/** Appeals in SQL, in the given transaction. Notes and reasons are encrypted, each bound to its appeal. */
export function appealStore(tx: Transaction, encryption: Encryption): AppealStore {
  const sealedOrNull = (text: string | null, context: string): Uint8Array | null =>
    text === null ? null : encryption.encrypt(text, context)
  const sealedReason = (appeal: Appeal) => sealedOrNull(appeal.reason, reasonContext(appeal))
  const map = (row: AppealRow): Appeal => appealOf(row, encryption)
  const findOne = async (condition: string, params: readonly string[]): Promise<Appeal | undefined> => {
    const sql = `select ${columns} from appeal where organization_id = $1 and ${condition}`
    const [row] = await tx.query<AppealRow>(sql, [...params])
    return row && map(row)
  }
  return {
    async lock(organizationId) {
      await tx.run('update organization set name = name where id = $1', [organizationId])
    },
    insert: async (appeal) =>
      (await tx.run(
        `insert into appeal (${columns})
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
         on conflict do nothing`,
        [
          appeal.id,
          appeal.organizationId,
          appeal.eventId,
          appeal.requestId,
          appeal.projectId,
          appeal.policyId,
          appeal.policyVersion,
          appeal.check,
          appeal.direction,
          appeal.claim,
          appeal.origin,
          appeal.openedBy,
          sealedOrNull(appeal.note, noteContext(appeal)),
          appeal.state,
          appeal.caseId,
          appeal.openedAtMs,
          appeal.expiresAtMs,
          appeal.closedAtMs,
          appeal.closedBy,
          sealedReason(appeal),
        ],
      )) === 1,
    find: (organizationId, id) => findOne('id = $2', [organizationId, id]),
    findByEvent: (organizationId, eventId) => findOne("event_id = $2 and origin <> 'judge'", [organizationId, eventId]),
    list: (organizationId, filter, page) =>
      selectPage(
        tx,
        { table: 'appeal', columns, where: { organization_id: organizationId }, only: conditionsOf(filter), map },
        page,
      ),
    async openedSince(organizationId, openedBy, sinceMs) {
      const rows = await tx.query<{ opened_at: number }>(
        'select opened_at from appeal where organization_id = $1 and opened_by = $2 and opened_at > $3 order by opened_at',
        [organizationId, openedBy, sinceMs],
      )
      return rows.map((row) => row.opened_at)
    },
    async close(appeal) {
      const closed = await tx.run(
        `update appeal set state = $3, sealed_reason = $4, case_id = $5, closed_at = $6, closed_by = $7
         where organization_id = $1 and id = $2 and state = 'open'`,
        [
          appeal.organizationId,
          appeal.id,
          appeal.state,
          sealedReason(appeal),
          appeal.caseId,
          appeal.closedAtMs,
          appeal.closedBy,
        ],
      )
      if (closed === 1 && appeal.caseId !== null)
        await tx.run('update label set case_id = $2 where appeal_id = $1', [appeal.id, appeal.caseId])
      return closed === 1
    },
    insertLabel: (label) => insertLabel(tx, encryption, label),
    labels: (organizationId, appealId) => labelsOf(tx, encryption, { organizationId, appealId }),
    listLabels: (organizationId, filter, page) => listLabels(tx, encryption, { organizationId, filter, page }),
    countOpen: (organizationId, nowMs) =>
      countRows(tx, { table: 'appeal', where: { organization_id: organizationId }, only: [inState('open', nowMs)] }),
    closedSince: (organizationId, sinceMs) => closedSince(tx, organizationId, sinceMs),
  }
}

async function closedSince(
  tx: Pick<Transaction, 'query'>,
  organizationId: string,
  sinceMs: number,
): Promise<readonly ClosedAppeals[]> {
  const rows = await tx.query<{ policy_id: string; overturned: number; closed: number }>(
    `select policy_id, sum(case when state = 'overturned' then 1 else 0 end) as overturned, count(*) as closed
     from appeal where organization_id = $1 and closed_at > $2 and policy_id is not null and origin <> 'judge' and state in ('overturned', 'upheld')
     group by policy_id order by policy_id`,
    [organizationId, sinceMs],
  )
  return rows.map(({ policy_id: policyId, overturned, closed }) => ({ policyId, overturned, closed }))
}

const conditionsOf = ({ policyId, state, isLabelled, nowMs }: AppealFilter): Condition[] => [
  ...(isLabelled ? [['exists (select 1 from label where label.appeal_id = appeal.id)'] as const] : []),
  ...(policyId === undefined ? [] : [['policy_id = ?', policyId] as const]),
  ...(state === undefined ? [] : [inState(state, nowMs)]),
]

export const findDueAppeals =
  (database: Pick<Database, 'read'>): FindDueAppeals =>
  async (nowMs, limit) => {
    const rows = await database.read<Pick<AppealRow, 'id' | 'organization_id'>>(
      "select id, organization_id from appeal where state = 'open' and expires_at <= $1 order by expires_at limit $2",
      [nowMs, limit],
    )
    return rows.map(({ id, organization_id: organizationId }) => ({ id, organizationId }))
  }

/** Erases notes and reasons, and what people wrote beside their labels. Returns how many there were. */
export async function eraseNotes(
  tx: Pick<Transaction, 'run'>,
  organizationId: string,
  of: { readonly column: 'request_id' | 'policy_id'; readonly id: string },
): Promise<number> {
  const rows = `where organization_id = $1 and ${of.column} = $2 and`
  const params = [organizationId, of.id]
  const appeals = await tx.run(
    `update appeal set sealed_note = null, sealed_reason = null ${rows} (sealed_note is not null or sealed_reason is not null)`,
    params,
  )
  const labels = await tx.run(`update label set sealed_note = null ${rows} sealed_note is not null`, params)
  return appeals + labels
}

function inState(state: NonNullable<AppealFilter['state']>, nowMs: number): Condition {
  if (state === 'open') return ["state = 'open' and expires_at > ?", nowMs]
  if (state === 'expired') return ["(state = 'expired' or (state = 'open' and expires_at <= ?))", nowMs]
  return ['state = ?', state]
}

function appealOf(row: AppealRow, encryption: Encryption): Appeal {
  const { id, organization_id: organizationId } = row
  const read = (sealed: Uint8Array | null, context: string): string | null =>
    sealed === null ? null : encryption.decrypt(sealed, context)
  return {
    id,
    organizationId,
    eventId: row.event_id,
    requestId: row.request_id,
    projectId: row.project_id,
    policyId: row.policy_id,
    policyVersion: row.policy_version,
    check: checks.find((check) => check === row.deciding_check) ?? null,
    direction: row.direction === 'response' ? 'response' : 'request',
    claim: appealClaims.find((claim) => claim === row.claim) ?? 'should_be_allowed',
    origin: appealOrigins.find((origin) => origin === row.origin) ?? 'caller',
    openedBy: row.opened_by,
    note: read(row.sealed_note, noteContext({ id, organizationId })),
    reason: read(row.sealed_reason, reasonContext({ id, organizationId })),
    state: appealStates.find((state) => state === row.state) ?? 'open',
    caseId: row.case_id,
    openedAtMs: row.opened_at,
    expiresAtMs: row.expires_at,
    closedAtMs: row.closed_at,
    closedBy: row.closed_by,
  }
}

type Owner = Pick<Appeal, 'organizationId' | 'id'>

/** The encryption contexts: a text that is moved to another appeal cannot be decrypted. */
const noteContext = ({ organizationId, id }: Owner): string => `${organizationId} ${id}`
const reasonContext = ({ organizationId, id }: Owner): string => `${organizationId} ${id} reason`

type AppealRow = {
  id: string
  organization_id: string
  event_id: string
  request_id: string | null
  project_id: string | null
  policy_id: string | null
  policy_version: number | null
  deciding_check: string | null
  direction: string
  claim: string
  origin: string
  opened_by: string | null
  sealed_note: Uint8Array | null
  state: string
  case_id: string | null
  opened_at: number
  expires_at: number
  closed_at: number | null
  closed_by: string | null
  sealed_reason: Uint8Array | null
}
