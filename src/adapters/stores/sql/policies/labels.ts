import type { Encryption } from '../../../../base/encryption.ts'
import { labelAnswers, type Label } from '../../../../domain/appeals/label.ts'
import type { Transaction } from '../database.ts'

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
  return rows.map((row) => {
    const { id } = row
    return {
      id,
      organizationId,
      appealId,
      eventId: row.event_id,
      requestId: row.request_id,
      caseId: row.case_id,
      policyId: row.policy_id,
      should: labelAnswers.find((answer) => answer === row.should) ?? 'unsure',
      isBlind: row.blind === 1,
      note: row.sealed_note === null ? null : encryption.decrypt(row.sealed_note, contextOf({ id, organizationId })),
      labelledBy: row.labelled_by,
      labelledAtMs: row.labelled_at,
    }
  })
}

/** The encryption context: a note that is moved to another label cannot be decrypted. */
const contextOf = ({ organizationId, id }: Pick<Label, 'organizationId' | 'id'>): string => `${organizationId} ${id}`

type LabelRow = {
  id: string
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
