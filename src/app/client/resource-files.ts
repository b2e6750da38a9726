import Type, { type Static, type TSchema } from 'typebox'
import { createChannelKinds } from '../../adapters/alerts/channel-kinds.ts'
import { findSinkKind, sinkKinds } from '../../adapters/sinks/registry.ts'
import { readAllowedIps } from '../../domain/identity/allowed-ips.ts'
import { completeRule } from '../../domain/alerts/rule-mutations.ts'
import { permissionsOf, type RoleName } from '../../domain/identity/roles.ts'
import { CreateAdminKey } from '../../http/admin/admin-keys/schema.ts'
import { NewChannelBody, documentedChannels } from '../../http/admin/alerts/channel-schema.ts'
import { filterOf } from '../../http/admin/alerts/rule-routes.ts'
import { NewRuleBody } from '../../http/admin/alerts/rule-schema.ts'
import { CreateApiKey } from '../../http/admin/api-keys/schema.ts'
import { LimitValues } from '../../http/admin/limits/override-routes.ts'
import { CreateProject } from '../../http/admin/projects/schema.ts'
import { documentedCreate } from '../../http/policy-gateway/exports/documented-sinks.ts'
import { NewExport } from '../../http/policy-gateway/exports/schema.ts'
import { givenConfigurationFields } from '../../http/resources/gateway-configuration.ts'
import { entrySchemas } from '../upstreams/entry-schemas.ts'
import { createValidator } from '../../http/validate.ts'
import { GatewayCaseEntry } from './file-cases.ts'
import { problemAt, problemsOf, type FileProblem } from './file-problems.ts'
import { BudgetEntry, entryId, JudgeEntry, PolicyEntry, projectName } from './policy-entry.ts'

const strict = { additionalProperties: false }

const id = entryId
const project = projectName
const expiresAt = Type.Optional(
  Type.String({
    description: 'When the key expires: a date in UTC or a time with its zone. Left out: never.',
    examples: ['2027-01-31', '2027-01-31T12:00:00Z'],
  }),
)
const limits = Type.Optional(LimitValues)
const { allowed_ips: allowedIps } = CreateApiKey.properties

const ProjectEntry = Type.Object({ id, ...CreateProject.properties, limits }, strict)

const ApiKeyEntry = Type.Object(
  {
    id,
    project,
    name: CreateApiKey.properties.name,
    permissions: CreateApiKey.properties.permissions,
    models: CreateApiKey.properties.models,
    expires_at: expiresAt,
    allowed_ips: allowedIps,
    limits,
  },
  strict,
)

const AdminKeyEntry = Type.Object(
  {
    id,
    name: CreateAdminKey.properties.name,
    permissions: CreateAdminKey.properties.permissions,
    role: CreateAdminKey.properties.role,
    expires_at: expiresAt,
    allowed_ips: allowedIps,
  },
  strict,
)

const GatewayEntry = Type.Partial(
  Type.Object({
    ...givenConfigurationFields,
    cases: Type.Array(GatewayCaseEntry, {
      maxItems: 1_000,
      description: 'Texts with what the configuration is expected to decide. Left out: its cases stay as they are.',
    }),
  }),
  { ...strict, description: 'The gateway configuration; fields that are left out get their defaults.' },
)

/** Names of upstreams and models never change, so an entry needs no id. */
const UpstreamEntry = Type.Object(entrySchemas.upstream.create.properties, strict)
const ModelEntry = Type.Object(entrySchemas.model.create.properties, strict)
const AlertChannelEntry = Type.Object({ id, ...NewChannelBody.properties }, strict)

const { channel_ids: _channelIds, ...ruleSettings } = NewRuleBody.properties

const AlertRuleEntry = Type.Object(
  {
    id,
    ...ruleSettings,
    project: Type.Optional(Type.String({ minLength: 1, description: 'The project of the filter, by name or id.' })),
    channels: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { maxItems: 20, description: 'The alert channels, by name or id.' }),
    ),
  },
  strict,
)

const SinkEntry = Type.Object({ id, ...NewExport.properties }, strict)

const fileSchema = <Sink extends TSchema, Channel extends TSchema>(sink: Sink, channel: Channel) =>
  Type.Partial(
    Type.Object({
      owner: Type.String({
        minLength: 1,
        maxLength: 80,
        pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]*$',
        description: 'Names the files that manage these resources, such as a repository. Once for all files.',
      }),
      organization: Type.Object({ limits }, { ...strict, description: 'Settings of the organization.' }),
      projects: Type.Array(ProjectEntry, { description: 'Projects, by name.' }),
      api_keys: Type.Array(ApiKeyEntry, { description: 'API keys, by project and name. Files contain no secrets.' }),
      admin_api_keys: Type.Array(AdminKeyEntry, { description: 'Administrator keys, by name.' }),
      export_sinks: Type.Array(sink, { description: 'Export sinks, by label. Secrets are written as ${NAME}.' }),
      upstreams: Type.Array(UpstreamEntry, {
        description: 'Upstreams of the organization, by name. Secrets are written as ${NAME}.',
      }),
      models: Type.Array(ModelEntry, { description: 'Models of the organization, by name.' }),
      judges: Type.Array(JudgeEntry, {
        description: 'Judges of the organization, by name. Which one is active is not decided by files.',
      }),
      alert_channels: Type.Array(channel, { description: 'Alert channels, by name. Secrets are written as ${NAME}.' }),
      alert_rules: Type.Array(AlertRuleEntry, { description: 'Alert rules, by name.' }),
      budgets: Type.Array(BudgetEntry, { description: 'Budgets, by name.' }),
      gateway: GatewayEntry,
      publish_gate: PolicyEntry.properties.publish_gate,
      policies: Type.Array(PolicyEntry, { description: 'Policies, by name.' }),
    }),
    { ...strict, title: 'GatehouseResources', description: 'Resources of one organization.' },
  )

/** A file of resources. The configuration of a sink is validated by its kind, because the messages are better. */
const ResourceFile = fileSchema(SinkEntry, AlertChannelEntry)

export const resourceKinds: readonly string[] = Object.keys(ResourceFile.properties)

/** An upstream or a model: its name, whether it is paused, and its settings. */
export type StoredEntryFile = {
  readonly name: string
  readonly id?: never
  readonly paused?: boolean
  readonly [field: string]: unknown
}

export type ResourceFileBody = Omit<Static<typeof ResourceFile>, 'upstreams' | 'models'> & {
  readonly upstreams?: readonly StoredEntryFile[]
  readonly models?: readonly StoredEntryFile[]
}
export type ProjectFileEntry = Static<typeof ProjectEntry>
export type ApiKeyFileEntry = Static<typeof ApiKeyEntry>
export type AdminKeyFileEntry = Static<typeof AdminKeyEntry>
export type SinkFileEntry = Static<typeof SinkEntry>
export type ChannelFileEntry = Static<typeof AlertChannelEntry>
export type RuleFileEntry = Static<typeof AlertRuleEntry>
export type JudgeFileEntry = Static<typeof JudgeEntry>
export type PolicyResourceEntry = Static<typeof PolicyEntry>
export type LimitsBodyValues = Static<typeof LimitValues>

/** The JSON Schema of a file, for editors. */
export function resourceFileSchema(): object {
  const schema = fileSchema(
    withReferences(documentedCreate(sinkKinds), sinkKinds),
    withReferences(documentedChannels(channelFileKinds), channelFileKinds),
  )
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }
}

/** The union of kinds with an id, and with references in place of secrets. */
function withReferences(union: SchemaPart, kinds: readonly { readonly secretFields: readonly string[] }[]): TSchema {
  const members = (union.anyOf ?? []).map((each, at) => {
    const { config = {}, ...properties } = each.properties ?? {}
    const secretFields = kinds[at]?.secretFields ?? []
    return { ...each, properties: { id, ...properties, config: secretFields.reduce(withReference, config) } }
  })
  return Type.Unsafe({ anyOf: members })
}

type SchemaPart = {
  readonly anyOf?: readonly SchemaPart[]
  readonly properties?: Readonly<Record<string, SchemaPart>>
}

const secretReference: SchemaPart & Readonly<Record<string, unknown>> = {
  type: 'string',
  pattern: '^\\$\\{(file:[^}]+|\\w+)\\}$',
  description: 'A reference to the secret: ${NAME} for an environment variable, or ${file:PATH}.',
}

/** The schema with a reference in place of the secret at a dotted path. */
function withReference(schema: SchemaPart, path: string): SchemaPart {
  const [name = '', ...rest] = path.split('.')
  const { anyOf, properties } = schema
  const inner = properties?.[name]
  return {
    ...schema,
    ...(anyOf && { anyOf: anyOf.map((each) => withReference(each, path)) }),
    ...(inner && {
      properties: {
        ...properties,
        [name]: rest.length === 0 ? secretReference : withReference(inner, rest.join('.')),
      },
    }),
  }
}

const validate = createValidator(ResourceFile)

/** The file, or everything that is wrong with it. */
export function checkResourceFile(
  value: unknown,
): { readonly file: ResourceFileBody } | { readonly problems: FileProblem[] } {
  const problems = problemsOf(() => void validate(value))
  return problems.length > 0 ? { problems } : { file: value as ResourceFileBody }
}

/** The networks as the service stores them. */
export function normalisedIps(
  entries: readonly string[],
): { readonly ips: readonly string[] } | { readonly problems: FileProblem[] } {
  let ips: readonly string[] = []
  const problems = problemsOf(() => void (ips = readAllowedIps(entries)))
  return problems.length > 0 ? { problems } : { ips }
}

/** What the command line needs of a kind of sink to compare configurations. */
export type SinkFileKind = {
  readonly secretFields: readonly string[]
  readonly destinationFields: readonly string[]
  /** The configuration with the fields that the service generates; `before` has their values. */
  completed(config: Readonly<Record<string, unknown>>, before: Readonly<Record<string, unknown>>): object
  problemsOf(config: unknown): readonly FileProblem[]
}

export function sinkFileKind(type: string): SinkFileKind | undefined {
  const kind = findSinkKind(type)
  return (
    kind && {
      secretFields: kind.secretFields,
      destinationFields: kind.destinationFields,
      completed: (config, before) => kind.completed?.(config, before, () => 'generated') ?? config,
      problemsOf: (config) => kind.problemsOf(config).map(({ path, message }) => problemAt(path, message)),
    }
  )
}

/** Whether the installation sends mail is checked by the service. */
const channelFileKinds = createChannelKinds({ smtp_url: 'smtp://unknown', allow_domains: [] })

export function channelFileKind(name: ChannelFileEntry['kind']): SinkFileKind {
  const kind = channelFileKinds.find((each) => each.kind === name)
  if (!kind) throw new Error(`There is no alert channel of the kind ${name}.`)
  return {
    secretFields: kind.secretFields,
    destinationFields: kind.destinationFields,
    completed: (config) => config,
    problemsOf: (config) => kind.problemsOf(config).map(({ path, message }) => problemAt(path, message)),
  }
}

type RuleSettingsBody = Omit<RuleFileEntry, 'id' | 'project' | 'channels' | 'paused'>

/** The settings of a rule with the defaults of its kind, as the service answers them. */
export function completedRule(
  rule: RuleSettingsBody,
): { readonly settings: Omit<RuleSettingsBody, 'kind' | 'name'> } | { readonly problem: FileProblem } {
  let settings: Omit<RuleSettingsBody, 'kind' | 'name'> = {}
  const { kind, min_requests: minRequests, for_minutes: forMinutes, filter, ...others } = rule
  const problems = problemsOf(() => {
    const completed = completeRule(kind, {
      ...others,
      ...(minRequests !== undefined && { minRequests }),
      ...(forMinutes !== undefined && { forMinutes }),
      filter: filterOf(filter ?? null),
    })
    const { threshold, unit, window } = completed
    settings = {
      threshold,
      unit,
      window,
      min_requests: completed.minRequests,
      for_minutes: completed.forMinutes,
      filter: filter ?? null,
    }
  })
  const [problem] = problems
  return problem ? { problem } : { settings }
}

export const sinkTypeNames: readonly string[] = sinkKinds.map(({ type }) => type)

export const rolePermissions = (role: RoleName): readonly string[] => permissionsOf(role)
