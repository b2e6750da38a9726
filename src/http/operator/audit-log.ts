import type { Static } from 'typebox'
import { eraseTexts } from '../../domain/audit/event/erase-texts.ts'
import { isWhole, type LogReport, type VerifyParts, type VerifyRange } from '../../domain/audit/verify-log.ts'
import { EncodedBody } from '../encoded-body.ts'
import { none } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import { installationRoute, type OperatorRoutes } from './route.ts'
import type { HashedEventsInput } from './audit-log-events.ts'
import * as Schema from './audit-log-schema.ts'
import type { AuditReads, AuditTexts } from '../../domain/audit/log.ts'

const path = '/operator/organization/audit_log'

type AuditLogReads = { readonly events: AuditReads }

/** `keys`: public keys in PEM to trust in place of those of the server secret. */
export type VerifyAuditLog = (
  organizationId: string,
  input: VerifyRange & Pick<VerifyParts, 'acceptLate'> & { readonly keys?: readonly string[] | undefined },
) => Promise<LogReport>

type AuditLogParts = {
  readonly reads: AuditLogReads
  readonly verifyAuditLog: VerifyAuditLog
  /** Runs `hashedEventsPage` in a thread of its own, because reading events would delay requests. */
  readonly readHashedEvents: (input: HashedEventsInput) => Promise<readonly string[]>
}

/** Verification and export of an organization's audit log, and the erasure of texts. */
export function auditLogOperatorRoutes(
  { read, query, mutation }: OperatorRoutes<AuditLogReads, { readonly texts: AuditTexts }>,
  parts: AuditLogParts,
): Route[] {
  return [
    query({
      name: 'verifyAuditLog',
      path: `${path}/verification`,
      summary: 'Verify the audit log',
      permission: '*',
      params: none,
      body: Schema.VerifyBody,
      answer: { description: 'What was checked, and what that proves.', schema: Schema.LogReportObject },
      async operation(_reads, { actor: { organization }, body }) {
        const { accept_late: acceptLate, ...range } = body
        return presentLogReport(organization.id, await parts.verifyAuditLog(organization.id, { ...range, acceptLate }))
      },
    }),
    read({
      name: 'listHashedEvents',
      path: `${path}/events`,
      summary: 'Read events as they were hashed',
      permission: '*',
      params: none,
      query: Schema.EventsQuery,
      answer: { description: 'A page of events.', schema: Schema.EventsPage },
      async operation(_reads, { actor, query: { after, to } }) {
        return new EncodedBody(await parts.readHashedEvents({ organizationId: actor.organization.id, after, to }))
      },
    }),
    read({
      name: 'listFingerprints',
      path: `${path}/fingerprints`,
      summary: 'Read the fingerprints of events',
      permission: '*',
      params: none,
      query: Schema.FingerprintsQuery,
      answer: { description: 'The range of the log, and the fingerprints.', schema: Schema.FingerprintsObject },
      async operation({ events }, { actor: { organization }, query: { after, to } }) {
        const { chainUid, first, last, at } = await events.fingerprints(organization.id, { after, last: to })
        return { organization: organization.id, chain_uid: chainUid, first, last, at }
      },
    }),
    mutation({
      name: 'eraseTexts',
      method: 'DELETE',
      path: `${path}/texts/{request_id}`,
      summary: 'Erase the texts of a request',
      description: 'Erases the prompt and the response that are stored with its events. The events stay.',
      permission: '*',
      params: Schema.TextsParams,
      query: none,
      body: none,
      answer: { description: 'How many events had texts.', schema: Schema.ErasedAnswer },
      operation: ({ texts }, { actor, params }) => eraseTexts(texts, actor.organization.id, params.request_id),
      present: (erased) => ({ erased }),
    }),
    installationRoute({
      name: 'listHandovers',
      method: 'GET',
      path: '/operator/audit_log/handovers',
      summary: 'List checkpoints in which one key hands over to another',
      query: Schema.HandoversQuery,
      answer: { description: 'Signed checkpoints, oldest first.', schema: Schema.HandoversAnswer },
      operation: async (input) => ({
        object: 'list',
        data: await parts.reads.events.handovers(input.query.organization_id),
      }),
    }),
  ]
}

/** `subject` is the organization, or the file whose events were checked in place of a log. */
export const presentLogReport = (subject: string, report: LogReport) => {
  const { end, signed, unsigned } = report
  return {
    whole: isWhole(report),
    organization: subject,
    checked: report.checked,
    first: report.first,
    checkpoints: report.checkpoints,
    unchecked_texts: report.uncheckedTexts ?? 0,
    ...(report.finding && { finding: { ...report.finding } }),
    end: { chain_uid: end.chainUid, sequence: end.sequence, fingerprint: end.fingerprint },
    key_source: report.keySource,
    signed: signed
      ? {
          to: signed.to,
          time: signed.timeMs,
          key_ids: [...signed.keyIds],
          handover_key_ids: [...signed.handoverKeyIds],
        }
      : null,
    unsigned: unsigned ? { from: unsigned.from, to: unsigned.to, overdue: unsigned.isOverdue } : null,
    late: report.late.map(({ from, to, timeMs, isAccepted }) => ({ from, to, time: timeMs, accepted: isAccepted })),
    key_findings: report.keyFindings.map(({ keyId, ...finding }) => ({ key_id: keyId, ...finding })),
    ...(report.checkpointFinding && { checkpoint_finding: { ...report.checkpointFinding } }),
  } satisfies Static<typeof Schema.LogReportObject>
}
