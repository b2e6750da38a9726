import { stringify } from 'yaml'
import type { ApiClient } from '../../app/client/api-client.ts'
import type { ExportBody } from '../../http/policy-gateway/exports/schema.ts'
import type { PolicyBody } from '../../http/admin/policies/schema.ts'
import {
  exportedCase,
  exportedGatewayCase,
  readCases,
  readGatewayCases,
  type StoredGatewayCases,
  type StoredPolicyCases,
} from './cases.ts'
import type { ProjectBody } from '../../http/admin/projects/schema.ts'
import {
  channelFileKind,
  resourceKinds,
  sinkFileKind,
  type ResourceFileBody,
  type StoredEntryFile,
} from '../../app/client/resource-files.ts'
import type { AlertChannelBody } from '../../http/admin/alerts/channel-schema.ts'
import type { AlertRuleBody } from '../../http/admin/alerts/rule-schema.ts'
import { contentDifferences } from '../policies/diff.ts'
import { leavesOf } from '../leaf-diff.ts'
import { oneLine } from '../table.ts'
import { ruleFields } from './alert-rules.ts'
import { exportedBudget } from './budgets.ts'
import { storedFields } from './keys.ts'
import { exportedJudge } from './judges.ts'
import { secretFieldsOf } from './models.ts'
import { readPolicyGate, type GateSettingsFile } from './publish-gate.ts'
import { namedProjects } from './projects.ts'
import { withLeaves } from './sinks.ts'
import { isActiveProject, isWorking, preferred, readPolicy, type State, type StoredEntryState } from './state.ts'

export type Exported = { readonly file: ResourceFileBody; readonly warnings: readonly string[] }

/**
 * The resources as files describe them, without archived projects, their keys, and keys that have expired. With an owner,
 * only those that it manages.
 */
export async function exportResources(client: ApiClient, state: State, owner?: string): Promise<Exported> {
  const isWanted: IsWanted = ({ managed_by: by }) => owner === undefined || by === owner
  const policies: PolicyBody[] = []
  const cases = new Map<string, StoredPolicyCases>()
  const gates = new Map<string, GateSettingsFile>()
  for (const { id } of state.policies.filter(isWanted)) {
    policies.push(await readPolicy(client, id))
    cases.set(id, await readCases(client, id))
    gates.set(id, (await readPolicyGate(client, id)).settings)
  }
  const defaults = await client.post<PolicyBody>('/v1/organization/policies/preview', { name: 'x', rule: 'x' })
  const active = state.projects.filter(isActiveProject)
  const file = {
    ...(owner !== undefined && { owner }),
    ...(state.organizationLimits && owner === undefined && { organization: { limits: state.organizationLimits } }),
    ...list(
      'projects',
      active.filter(isWanted).map((project) => projectEntry(state, project)),
    ),
    ...list(
      'api_keys',
      active.flatMap((project) => apiKeyEntries(state, project, isWanted)),
    ),
    ...list('admin_api_keys', adminKeyEntries(state, isWanted)),
    ...list(
      'export_sinks',
      state.sinks.filter(isWanted).map((sink) => sinkEntry(sink, state.sinks)),
    ),
    ...list('upstreams', state.upstreams.filter(isWanted).map(storedEntry)),
    ...list('models', state.models.filter(isWanted).map(storedEntry)),
    ...list('judges', state.judges.filter(isWanted).map(exportedJudge)),
    ...list(
      'alert_channels',
      state.alertChannels.filter(isWanted).map((channel) => channelEntry(channel, state.alertChannels)),
    ),
    ...list(
      'alert_rules',
      state.alertRules.filter(isWanted).map((rule) => ruleEntry(rule, state)),
    ),
    ...list(
      'budgets',
      state.budgets
        .filter(isWanted)
        .map((budget) => exportedBudget(budget, (id) => projectReference(state.projects, id))),
    ),
    ...(isWanted(state.gateway) && gatewayEntry(state.gateway, await readGatewayCases(client))),
    ...(owner === undefined && gateEntry(state.publishGate.settings)),
    ...list(
      'policies',
      policies.map((policy) => ({
        ...policyEntry(state, policy, defaults),
        ...gateEntry(gates.get(policy.id)),
        ...list('cases', (cases.get(policy.id) ?? []).flatMap(exportedCase)),
      })),
    ),
  }
  const unread = state.modelsProblem === undefined ? [] : [`Upstreams and models are left out: ${state.modelsProblem}`]
  return { file, warnings: [...policies.flatMap(draftWarning), ...unread] }
}

type IsWanted = (resource: { readonly managed_by?: string }) => boolean

const list = <T>(name: string, items: readonly T[]): Record<string, readonly T[]> =>
  items.length === 0 ? {} : { [name]: items }

/** The id, where the name does not identify the resource. */
const idUnlessUnique = (id: string, named: readonly unknown[]): { readonly id?: string } =>
  named.length > 1 ? { id } : {}

const gateEntry = (settings: GateSettingsFile = {}): object =>
  Object.keys(settings).length === 0 ? {} : { publish_gate: settings }

const limitsEntry = (limits: object | undefined): object => (limits ? { limits } : {})

const projectEntry = ({ projects, limitsOf }: State, { id, name }: ProjectBody): object => ({
  ...idUnlessUnique(id, namedProjects(projects, name)),
  name,
  ...limitsEntry(limitsOf(id)),
})

/** The name of a project, or its id where the name could mean another one. */
const projectReference = (projects: readonly ProjectBody[], id: string): string => {
  const name = projects.find((project) => project.id === id)?.name ?? id
  const named = namedProjects(projects, name)
  return named.length === 1 && named[0]?.id === id && !projects.some((other) => other.id === name) ? name : id
}

function apiKeyEntries(state: State, project: ProjectBody, isWanted: IsWanted): object[] {
  const { apiKeys, projects, limitsOf, nowMs } = state
  const ofProject = apiKeys.filter((key) => key.project_id === project.id)
  return ofProject
    .filter((key) => isWorking(key, nowMs) && isWanted(key))
    .map((key) => {
      const sameName = preferred(
        ofProject.filter(({ name }) => name === key.name),
        (each) => isWorking(each, nowMs),
      )
      const { name, permissions, ...fields } = storedFields(key)
      return {
        ...idUnlessUnique(key.id, sameName),
        name,
        project: projectReference(projects, project.id),
        ...(permissions.length > 0 && { permissions }),
        ...fields,
        ...limitsEntry(limitsOf(key.id)),
      }
    })
}

function adminKeyEntries({ adminKeys, nowMs }: State, isWanted: IsWanted): object[] {
  const working = adminKeys.filter((key) => isWorking(key, nowMs))
  return working.filter(isWanted).map((key) => ({
    ...idUnlessUnique(
      key.id,
      working.filter(({ name }) => name === key.name),
    ),
    ...storedFields(key),
  }))
}

function sinkEntry({ id, type, label, enabled, config }: ExportBody, sinks: readonly ExportBody[]): object {
  const isUnique = label !== '' && sinks.filter((sink) => sink.label === label).length === 1
  return {
    ...(!isUnique && { id }),
    label,
    type,
    enabled,
    config: referencedConfig(id, config, sinkFileKind(type)?.secretFields),
  }
}

/** Secrets become references to variables that are named after the id of the resource, because a tenant chooses its name. */
function referencedConfig(id: string, config: object, secretFields: readonly string[] = []): object {
  const secrets = secretFields.filter((field) => leavesOf(config).has(field))
  return withLeaves(config, new Map(secrets.map((field) => [field, variableOf(id, field.replace(/^auth\./, ''))])))
}

function channelEntry(
  { id, kind, name, paused, config }: AlertChannelBody,
  channels: readonly AlertChannelBody[],
): object {
  return {
    ...idUnlessUnique(
      id,
      channels.filter((channel) => channel.name === name),
    ),
    name,
    kind,
    ...(paused && { paused }),
    config: referencedConfig(id, config, channelFileKind(kind).secretFields),
  }
}

/** Settings that a kind does not have are left out. */
function ruleEntry(rule: AlertRuleBody, { alertRules, alertChannels, projects }: State): object {
  const channelName = (id: string): string => {
    const name = alertChannels.find((channel) => channel.id === id)?.name ?? id
    return alertChannels.filter((channel) => channel.name === name).length === 1 ? name : id
  }
  const { filter, channels, paused, ...settings } = ruleFields(rule, channelName)
  const { project_id: projectId, ...otherFilter } = filter ?? {}
  return {
    ...idUnlessUnique(
      rule.id,
      alertRules.filter(({ name }) => name === rule.name),
    ),
    name: rule.name,
    kind: rule.kind,
    ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
    ...(projectId !== undefined && { project: projectReference(projects, projectId) }),
    ...(Object.keys(otherFilter).length > 0 && { filter: otherFilter }),
    ...(channels.length > 0 && { channels }),
    ...(paused && { paused }),
  }
}

/** Secrets become references to variables that are named after the id, because a tenant chooses the name. */
function storedEntry({ id, name, paused, settings }: StoredEntryState): StoredEntryFile {
  const secrets = secretFieldsOf(settings)
  const references = new Map(secrets.map((field) => [field, variableOf(id, field.replace(/^headers\./, ''))]))
  return { name, ...(paused && { paused }), ...withLeaves(settings, references) }
}

const variableOf = (id: string, field: string): string =>
  `\${GATEHOUSE_${`${id}_${field}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}}`

/** Fields with their default are left out. A draft that differs from the published version is written as unpublished. */
function policyEntry({ policies, projects }: State, policy: PolicyBody, defaults: PolicyBody): object {
  const { id, name, description, draft } = policy
  const {
    rule: _,
    project_ids: ids,
    ...changed
  } = Object.fromEntries(
    contentDifferences(defaults.draft, draft).map(({ field }) => [field, draft[field as keyof typeof draft]]),
  )
  return {
    ...idUnlessUnique(
      id,
      policies.filter((each) => each.name === name),
    ),
    name,
    ...(description !== '' && { description }),
    rule: draft.rule,
    ...changed,
    ...(Array.isArray(ids) && { projects: ids.map((each) => projectReference(projects, each)) }),
    ...(isPublished(policy) ? {} : { publish: false }),
    ...(policy.rollout_percent === 100 ? {} : { rollout_percent: policy.rollout_percent }),
  }
}

/** A configuration that was never saved may have cases nevertheless. */
function gatewayEntry({ version, config }: State['gateway'], cases: StoredGatewayCases): object {
  const entry = {
    ...(version > 0 && config),
    ...list('cases', cases.flatMap(exportedGatewayCase)),
  }
  return Object.keys(entry).length === 0 ? {} : { gateway: entry }
}

const isPublished = ({ published, draft }: PolicyBody): boolean =>
  published !== null && contentDifferences(published, draft).length === 0

const draftWarning = (policy: PolicyBody): string[] =>
  policy.published === null || isPublished(policy)
    ? []
    : [
        `${oneLine(policy.name)}: the file has the draft, which differs from the published version; gatehouse policies diff shows it.`,
      ]

/** The first line of a file, which names its schema for editors. */
export const schemaFile = 'resources.schema.json'

const header = `# yaml-language-server: $schema=./${schemaFile}\n`

/** One file for each kind of resource. */
export const filesOf = (file: ResourceFileBody): ReadonlyMap<string, string> =>
  new Map(Object.entries(file).map(([kind, value]) => [`${kind}.yaml`, header + yamlOf({ [kind]: value })]))

/** The names of files of an earlier export that `files` do not replace: a kind of which nothing is left. */
export const staleFiles = (files: ReadonlyMap<string, string>): string[] =>
  resourceKinds.map((kind) => `${kind}.yaml`).filter((name) => !files.has(name))

export const isExported = (text: string): boolean => text.startsWith(header)

/** References such as `&a1` would make a file hard to edit. */
export const yamlOf = (value: object): string => stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 })
