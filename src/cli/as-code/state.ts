import { ApiError, apiPath, type ApiClient } from '../../app/client/api-client.ts'
import type { AlertChannelBody } from '../../http/admin/alerts/channel-schema.ts'
import type { AlertRuleBody } from '../../http/admin/alerts/rule-schema.ts'
import type { BudgetBody } from '../../http/admin/budgets/schema.ts'
import type { JudgeBody } from '../../http/admin/judges/schema.ts'
import type { AdminKeyBody } from '../../http/admin/operator-keys.ts'
import type { ConfigurationBody } from '../../http/policy-gateway/config/schema.ts'
import type { ExportBody } from '../../http/policy-gateway/exports/schema.ts'
import type { ServedModelsBody } from '../../http/admin/models/schema.ts'
import type { UpstreamsBody } from '../../http/admin/upstreams/schema.ts'
import type { OverrideBody } from '../../http/admin/limits/override-routes.ts'
import type { GateBody } from '../../http/admin/policies/gate-schema.ts'
import type { PolicyBody, PolicySummaryBody } from '../../http/admin/policies/schema.ts'
import type { ProjectBody } from '../../http/admin/projects/schema.ts'
import type { ProjectKeyBody } from '../../http/admin/api-keys/schema.ts'
import { alertChannelsPath, alertRulesPath } from '../alerts.ts'
import { budgetsPath } from '../budgets.ts'
import { configPath } from '../gateway.ts'
import { policiesPath } from '../policies/verbs.ts'

export const projectsPath = '/v1/organization/projects'
export const adminKeysPath = '/v1/organization/admin_api_keys'
export const overridesPath = '/v1/organization/limits/overrides'
export const sinksPath = '/api/policy-gateway/exports'

/** The resources of an organization, without revoked keys. */
export type State = {
  readonly projects: readonly ProjectBody[]
  readonly apiKeys: readonly ProjectKeyBody[]
  readonly adminKeys: readonly AdminKeyBody[]
  readonly sinks: readonly ExportBody[]
  readonly upstreams: readonly StoredEntryState[]
  readonly models: readonly StoredEntryState[]
  /** Why upstreams and models could not be read; undefined if they were. */
  readonly modelsProblem: string | undefined
  /** Those of the organization. */
  readonly judges: readonly JudgeBody[]
  /** Why they could not be read; undefined if they were. */
  readonly judgesProblem: string | undefined
  readonly budgets: readonly BudgetBody[]
  /** Why they could not be read; undefined if they were. */
  readonly budgetsProblem: string | undefined
  readonly alertChannels: readonly AlertChannelBody[]
  readonly alertRules: readonly AlertRuleBody[]
  readonly gateway: ConfigurationBody
  readonly publishGate: GateBody
  readonly policies: readonly PolicySummaryBody[]
  /** The limits that were set for a project or a key; undefined if those of the tier apply. */
  limitsOf(subjectId: string): OverrideBody['limits'] | undefined
  readonly organizationLimits: OverrideBody['limits'] | undefined
  readonly nowMs: number
}

/** An upstream or model that the organization added. */
export type StoredEntryState = {
  readonly id: string
  readonly name: string
  readonly paused: boolean
  readonly settings: Readonly<Record<string, unknown>>
  readonly managed_by?: string
}

export async function readState(client: ApiClient, nowMs: number): Promise<State> {
  const { data: overrides } = await client.get<{ data: readonly OverrideBody[] }>(overridesPath)
  return {
    projects: (await client.list<ProjectBody>(projectsPath)).data,
    apiKeys: (await client.list<ProjectKeyBody>('/v1/organization/api_keys')).data,
    adminKeys: (await client.list<AdminKeyBody>(adminKeysPath)).data,
    sinks: (await client.list<ExportBody>(sinksPath)).data,
    ...(await readModels(client)),
    ...(await readJudges(client)),
    ...(await readBudgets(client)),
    alertChannels: await listIfPermitted<AlertChannelBody>(client, alertChannelsPath),
    alertRules: await listIfPermitted<AlertRuleBody>(client, alertRulesPath),
    gateway: await client.get<ConfigurationBody>(configPath),
    publishGate: await client.get<GateBody>('/v1/organization/publish_gate'),
    policies: (await client.list<PolicySummaryBody>(policiesPath)).data,
    limitsOf: (subjectId) => overrides.find((each) => each.subject_id === subjectId)?.limits,
    organizationLimits: overrides.find(({ scope }) => scope === 'organization')?.limits,
    nowMs,
  }
}

/** Only a running server knows them, and not every key may read them. Files without any need neither. */
async function readModels(client: ApiClient): Promise<Pick<State, 'upstreams' | 'models' | 'modelsProblem'>> {
  try {
    return {
      upstreams: addedOf(await client.get<UpstreamsBody>('/v1/organization/upstreams')),
      models: addedOf(await client.get<ServedModelsBody>('/v1/organization/models')),
      modelsProblem: undefined,
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { upstreams: [], models: [], modelsProblem: error.message }
  }
}

/** Keys that were made before organizations had judges lack the permission. Files without judges need none. */
async function readJudges(client: ApiClient): Promise<Pick<State, 'judges' | 'judgesProblem'>> {
  try {
    const { data } = await client.list<JudgeBody>('/v1/organization/judges')
    return { judges: data.filter((judge) => judge.defined_in === 'organization'), judgesProblem: undefined }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'permission_denied') throw error
    return { judges: [], judgesProblem: error.message }
  }
}

/** Keys that were made before there were budgets lack the permission. Files without budgets need none. */
async function readBudgets(client: ApiClient): Promise<Pick<State, 'budgets' | 'budgetsProblem'>> {
  try {
    return { budgets: (await client.list<BudgetBody>(budgetsPath)).data, budgetsProblem: undefined }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'permission_denied') throw error
    return { budgets: [], budgetsProblem: error.message }
  }
}

type ListedEntry = { readonly id: string | null; readonly settings: object | null } & Omit<
  StoredEntryState,
  'id' | 'settings'
>

const addedOf = ({ data }: { readonly data: readonly ListedEntry[] }): StoredEntryState[] =>
  data.flatMap(({ id, settings, ...entry }) =>
    id === null || settings === null ? [] : [{ ...entry, id, settings: { ...settings } }],
  )

/** Keys that were made before there were alerts lack the permission. Files without alerts need none. */
async function listIfPermitted<T>(client: ApiClient, path: string): Promise<readonly T[]> {
  try {
    return (await client.list<T>(path)).data
  } catch (error) {
    if (error instanceof ApiError && error.code === 'permission_denied') return []
    throw error
  }
}

export const readPolicy = (client: ApiClient, id: string): Promise<PolicyBody> =>
  client.get<PolicyBody>(apiPath`/v1/organization/policies/${id}`)

/** Those of the candidates that a name means: active ones come before archived or expired ones. */
export const preferred = <T>(candidates: readonly T[], isActive: (candidate: T) => boolean): readonly T[] => {
  const active = candidates.filter(isActive)
  return active.length > 0 ? active : candidates
}

export const isActiveProject = ({ status }: ProjectBody): boolean => status === 'active'

export const isWorking = ({ expires_at: end }: { readonly expires_at?: number }, nowMs: number): boolean =>
  end === undefined || end * 1000 > nowMs
