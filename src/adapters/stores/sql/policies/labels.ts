import type { Encryption } from '../../../../base/encryption.ts'
import { labelAnswers, type Label, type LabelFilter } from '../../../../domain/appeals/label.ts'
import type { Page, Paged } from '../../../../domain/identity/store.ts'
import type { Transaction } from '../database.ts'
import { selectPage, type Condition } from '../page.ts'

const columns =
  'id, organization_id, appeal_id, event_id, request_id, case_id, policy_id, should, blind, sealed_note, labelled_by, labelled_at'

/** Returns false if the person has labelled the appeal before. */
export async function insertLabel(tx: Transaction, encryption: Encryption, label: Label): Promise<boolean> {
  const sealed = label.note === null ? null : encryption.encrypt(label.note, contextOf(label))
  const inserted = await tx.run(
    `insert into label (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (appeal_id, labelled_by) do nothing`,
    [
      label.id,
      label.organizationId,
      label.appealId,
      label.eventId,
      label.requestId,
      label.caseId,
      label.policyId,
      label.should,
      label.isBlind ? 1 : 0,
      sealed,
      label.labelledBy,
      label.labelledAtMs,
    ],
  )
  return inserted === 1
}

/** The labels of an appeal, the oldest first. */
export async function labelsOf(
  tx: Pick<Transaction, 'query'>,
  encryption: Encryption,
  { organizationId, appealId }: Pick<Label, 'organizationId' | 'appealId'>,
): Promise<readonly Label[]> {
  const rows = await tx.query<LabelRow>(
    `select ${columns} from label where organization_id = $1 and appeal_id = $2 order by id`,
    [organizationId, appealId],
  )
  return rows.map((row) => labelOf(row, encryption))
}

type LabelQuery = { readonly organizationId: string; readonly filter: LabelFilter; readonly page: Page }

/** The labels of an organization. */
export const listLabels = (
  tx: Pick<Transaction, 'query'>,
  encryption: Encryption,
  { organizationId, filter, page }: LabelQuery,
): Promise<Paged<Label>> =>
  selectPage(
    tx,
    {
      table: 'label',
      columns,
      where: { organization_id: organizationId },
      only: conditionsOf(filter),
      map: (row: LabelRow) => labelOf(row, encryption),
    },
    page,
  )

function conditionsOf({ policyId, eventId, should, by, reader, nowMs }: LabelFilter): Condition[] {
  const equal: readonly (readonly [string, string | undefined])[] = [
    ['policy_id', policyId],
    ['event_id', eventId],
    ['should', should],
    ['labelled_by', by],
  ]
  return [
    ...equal.flatMap(([column, value]): Condition[] => (value === undefined ? [] : [[`${column} = ?`, value]])),
    [shownTo, nowMs, reader],
  ]
}

const shownTo = `(
  not exists (select 1 from appeal where appeal.id = label.appeal_id and appeal.state = 'open' and appeal.expires_at > ?)
  or exists (select 1 from label as own where own.appeal_id = label.appeal_id and own.labelled_by = ?)
)`

const labelOf = (row: LabelRow, encryption: Encryption): Label => ({
  id: row.id,
  organizationId: row.organization_id,
  appealId: row.appeal_id,
  eventId: row.event_id,
  requestId: row.request_id,
  caseId: row.case_id,
  policyId: row.policy_id,
  should: labelAnswers.find((answer) => answer === row.should) ?? 'unsure',
  isBlind: row.blind === 1,
  note:
    row.sealed_note === null
      ? null
      : encryption.decrypt(row.sealed_note, contextOf({ id: row.id, organizationId: row.organization_id })),
  labelledBy: row.labelled_by,
  labelledAtMs: row.labelled_at,
})

/** The encryption context: a note that is moved to another label cannot be decrypted. */
const contextOf = ({ organizationId, id }: Pick<Label, 'organizationId' | 'id'>): string => `${organizationId} ${id}`

type LabelRow = {
  id: string
  organization_id: string
  appeal_id: string
  event_id: string
  request_id: string | null
  case_id: string | null
  policy_id: string | null
  should: string
  blind: number
  sealed_note: Uint8Array | null
  labelled_by: string
  labelled_at: number
}
