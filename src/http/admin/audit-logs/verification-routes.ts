import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { Verification } from '../../../domain/audit/verification/verification.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import * as Schema from './verification-schema.ts'
import type { VerificationAdministration, VerificationStores } from '../../../domain/audit/verification/create.ts'

const path = '/v1/organization/audit_logs/verify'

const answer = { description: 'The verification.', schema: Schema.VerificationObject }

/** `/v1/organization/audit_logs/verify`: verifies the log in the background. */
export function verificationRoutes(
  { read, mutation }: AdminRoutes<VerificationStores>,
  operations: VerificationAdministration,
): Route[] {
  return [
    mutation({
      name: 'verifyAuditEvents',
      method: 'POST',
      path,
      summary: 'Verify the audit log',
      description:
        'Checks each event, its texts, its link to the event before, and the signatures of checkpoints. Runs in the background: poll it until its state is `completed`. If one is running already, nothing is started, and the response is that one. This proves what somebody with access to the database changed; `gatehouse audit verify --against` also proves what a holder of the server secret changed.',
      permission: 'audit:read',
      params: none,
      query: none,
      body: Schema.VerifyBody,
      status: 201,
      answer,
      operation: (stores, { actor, body }) => operations.start(stores, actor.organization.id, body),
      present: presentVerification,
    }),
    read({
      name: 'listVerifications',
      path,
      summary: 'List verifications of the audit log',
      description: 'The last 20 are kept.',
      permission: 'audit:read',
      params: none,
      query: Schema.VerificationQuery,
      answer: { description: 'A page of verifications.', schema: Schema.VerificationList },
      operation: async ({ verifications }, { actor, query }) =>
        presentList(await verifications.list(actor.organization.id, pageOf(query)), presentVerification),
    }),
    read({
      name: 'getVerification',
      path: `${path}/{verification_id}`,
      summary: 'Read a verification of the audit log',
      permission: 'audit:read',
      params: Schema.VerificationParams,
      query: none,
      answer,
      operation: async (reads, { actor, params }) =>
        presentVerification(await operations.find(reads, actor.organization.id, params.verification_id)),
    }),
  ]
}

const presentVerification = (verification: Verification): Static<typeof Schema.VerificationObject> => {
  const { result } = verification
  return {
    id: verification.id,
    object: 'organization.audit_log.verification',
    state: verification.state,
    from: verification.from,
    to: verification.to,
    checked: verification.checked,
    total: verification.total,
    is_whole: result?.isWhole ?? null,
    first_bad: result?.firstBad ?? null,
    signed_to: result?.signedTo ?? null,
    overdue_from: result?.overdueFrom ?? null,
    unchecked_texts: result?.uncheckedTexts ?? null,
    created_at: toUnixSeconds(verification.createdAtMs),
    updated_at: toUnixSeconds(verification.updatedAtMs),
  }
}
