import { apiPath, type ApiClient } from '../../src/app/client/api-client.ts'
import type { BalanceBody, GrantBody } from '../../src/http/admin/credits/balance-schema.ts'
import type { CreatedKeyBody, KeysBody } from '../../src/http/admin/operator-keys.ts'
import type { LedgerEntryBody } from '../../src/http/admin/credits/schema.ts'
import type { OrganizationBody } from '../../src/http/resources/organization.ts'
import type { OverrideBody } from '../../src/http/admin/limits/override-routes.ts'
import type { ProjectBody } from '../../src/http/admin/projects/schema.ts'
import type { SecretStatusBody } from '../../src/http/operator/secret.ts'
import type { SetupBody } from '../../src/http/operator/organizations-schema.ts'
import { verifyLedger } from '../../src/app/ledger-verification.ts'
import type { LogReportBody } from '../../src/app/audit-verification.ts'

type NewKey = { readonly name: string; readonly permissions?: readonly string[] }

/** Operator commands for tests, for the named organization or the only one. */
export function operatorOf({ client: unbound }: { readonly client: ApiClient }, organization?: string) {
  const client = unbound.inOrganization(organization)
  const send = async <T>(method: 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<T> =>
    (await client.request<T>(method, path, body === undefined ? {} : { body })).body
  return {
    setUp: (name: string) => client.post<SetupBody>('/operator/setup', { name }),
    createOrganization: (name: string) => client.post<OrganizationBody>('/operator/organizations', { name }),
    updateOrganization: (body: { plan: string } | { metered: boolean }) =>
      send<OrganizationBody>('PATCH', '/v1/organization', body),
    createProject: (name: string) => client.post<ProjectBody>('/v1/organization/projects', { name }),
    listKeys: () => client.get<KeysBody>('/operator/organization/keys'),
    async createKey(body: NewKey) {
      const { data } = await client.list<ProjectBody>('/v1/organization/projects')
      return client.post<CreatedKeyBody>(apiPath`/v1/organization/projects/${data[0]?.id ?? ''}/api_keys`, body)
    },
    createAdminKey: (body: NewKey) => client.post<CreatedKeyBody>('/v1/organization/admin_api_keys', body),
    revokeKey: (id: string) => send('DELETE', apiPath`/operator/organization/keys/${id}`),
    balance: () => client.get<BalanceBody>('/v1/organization/credits'),
    grant: (body: { credits: number; ref?: string; reason?: string }) =>
      client.post<GrantBody>('/v1/organization/credits/grants', body),
    recordPayment: (body: { usd: number; ref: string; credits?: number }) =>
      client.post<GrantBody>('/v1/organization/credits/payments', body),
    setLimits: (body: { project_id?: string; api_key_id?: string; limits: Readonly<Record<string, number>> }) =>
      send<OverrideBody>('PUT', '/v1/organization/limits/overrides', body),
    /** The latest entries first. */
    ledger: async (most = 20) =>
      (await client.list<LedgerEntryBody>('/v1/organization/credits/ledger', { order: 'desc' }, most)).data,
    verifyLedger: (isSinceCheckpoint = false) => verifyLedger(client, { isSinceCheckpoint }),
    verifyAuditLog: () => client.post<LogReportBody>('/operator/organization/audit_log/verification', {}),
    eraseTexts: (requestId: string) =>
      send<{ erased: number }>('DELETE', apiPath`/operator/organization/audit_log/texts/${requestId}`),
    secretStatus: () => client.get<SecretStatusBody>('/operator/secret'),
    rotateSecret: () => client.post<SecretStatusBody>('/operator/secret/rotate'),
    retireSecret: () => client.post<SecretStatusBody>('/operator/secret/retire', {}),
  }
}
