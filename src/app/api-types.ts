import type { Static } from 'typebox'
import type { presentAdminKey } from '../http/admin/admin-keys/present.ts'
import type { presentApiKey } from '../http/admin/api-keys/present.ts'
import type { ProjectKeyObject } from '../http/admin/api-keys/schema.ts'
import type { ArchivedObjectObject } from '../http/admin/audit-logs/archive-schema.ts'
import type { AuditEntryObject, CheckpointKeys } from '../http/admin/audit-logs/schema.ts'
import type { BalanceObject } from '../http/admin/credits/balance-schema.ts'
import type { LedgerEntryObject } from '../http/admin/credits/schema.ts'
import type { OverrideObject } from '../http/admin/limits/override-routes.ts'
import type { LimitsObject } from '../http/admin/limits/schema.ts'
import type { EvaluationObject } from '../http/admin/evaluate/schema.ts'
import type { ServedModelList } from '../http/admin/models/schema.ts'
import type { Backtest } from '../http/admin/policies/backtest-schema.ts'
import type { MemberObject } from '../http/admin/members/schema.ts'
import type { Policy } from '../http/admin/policies/schema.ts'
import type { ProjectObject } from '../http/admin/projects/schema.ts'
import type { RequestDetailObject, RequestObject } from '../http/admin/requests/schema.ts'
import type { SignInObject } from '../http/admin/sign-ins/routes.ts'
import type { SystemObject } from '../http/admin/system/schema.ts'
import type { ProbeObject, UpstreamList } from '../http/admin/upstreams/schema.ts'
import type { UsageObject } from '../http/admin/usage/schema.ts'
import type { EventsPage, FingerprintsObject } from '../http/operator/audit-log-schema.ts'
import type { ConsoleLinkObject } from '../http/operator/console-link.ts'
import type { LedgerVerificationObject } from '../http/operator/ledger.ts'
import type { CreatedOrganization, SetupAnswer } from '../http/operator/organizations-schema.ts'
import type { SecretStatusObject } from '../http/operator/secret.ts'
import type { StorageObject } from '../http/operator/storage.ts'
import type { OrganizationObject } from '../http/resources/organization.ts'
import type { SavedAnswer } from '../http/policy-gateway/config/schema.ts'
import type { DeadLetterList, ExportObject, TestAnswer } from '../http/policy-gateway/exports/schema.ts'

export { changes } from '../domain/evaluation/backtest/counts.ts'
export { policyFields } from '../domain/policy/content.ts'
export type { PolicyContentBody, PolicyField } from '../domain/policy/content.ts'

// Response bodies of the API, for the command line, which may not import `http` or the domain.

export type ConsoleLinkBody = Static<typeof ConsoleLinkObject>
export type PolicyBody = Static<typeof Policy>
export type PolicySummaryBody = Omit<PolicyBody, 'draft' | 'published'>
export type PolicyVersionBody = NonNullable<PolicyBody['published']>
export type BacktestBody = Static<typeof Backtest>
export type EvaluationBody = Static<typeof EvaluationObject>
export type ConfigurationBody = Static<typeof SavedAnswer>
export type MemberBody = Static<typeof MemberObject>
export type SignInBody = Static<typeof SignInObject>
export type ProjectBody = Static<typeof ProjectObject>
export type LedgerEntryBody = Static<typeof LedgerEntryObject>
export type UsageBody = Static<typeof UsageObject>
export type LimitsBody = Static<typeof LimitsObject>
export type ExportBody = Static<typeof ExportObject>
export type SinkTestBody = Static<typeof TestAnswer>['test']
export type DeadLetterBody = Static<typeof DeadLetterList>['data'][number]
export type ServedModelsBody = Static<typeof ServedModelList>
export type UpstreamsBody = Static<typeof UpstreamList>
export type SystemBody = Static<typeof SystemObject>
export type ProbeBody = Static<typeof ProbeObject>
export type RequestBody = Static<typeof RequestObject>
export type RequestDetailBody = Static<typeof RequestDetailObject>
export type AuditEntryBody = Static<typeof AuditEntryObject>
export type ArchivedObjectBody = Static<typeof ArchivedObjectObject>
export type CheckpointKeysBody = Static<typeof CheckpointKeys>

/** The operator also sees revoked keys. */
type WithRevocation<Key> = Key & { readonly revoked_at?: number; readonly managed_by?: string }
export type ApiKeyBody = WithRevocation<ReturnType<typeof presentApiKey>>
export type ProjectKeyBody = Static<typeof ProjectKeyObject>
export type AdminKeyBody = WithRevocation<ReturnType<typeof presentAdminKey>>
export type KeysBody = { readonly api_keys: readonly ApiKeyBody[]; readonly admin_api_keys: readonly AdminKeyBody[] }
/** `value` is the secret, which only the response to the creation contains. */
export type CreatedKeyBody = (ApiKeyBody | AdminKeyBody) & { readonly value: string }

export type SetupBody = Static<typeof SetupAnswer>
export type CreatedOrganizationBody = Static<typeof CreatedOrganization>
export type OrganizationBody = Static<typeof OrganizationObject>
export type BalanceBody = Static<typeof BalanceObject>
/** `is_new` is false if the reference of the grant, correction or payment counted before. */
export type GrantBody = BalanceBody & { readonly is_new: boolean }
export type OverrideBody = Static<typeof OverrideObject>
export type LedgerVerificationBody = Static<typeof LedgerVerificationObject>
export type LedgerReportBody = NonNullable<LedgerVerificationBody['report']>
export type SecretStatusBody = Static<typeof SecretStatusObject>
export type StorageBody = Static<typeof StorageObject>
export type AuditEventsBody = Static<typeof EventsPage>
export type FingerprintsBody = Static<typeof FingerprintsObject>
