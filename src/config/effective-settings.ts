import type { TSchema } from 'typebox'
import { fileValuesOf } from './file-values.ts'
import { originsOf, type ConfigOrigins } from './origins.ts'
import { ConfigSchema, type Config } from './schema.ts'

/** One value of the configuration, without secrets. */
export type Setting = {
  /** Its path, such as `upstreams[0].timeout_ms`. */
  readonly key: string
  /** Null if it is not set, or hidden. */
  readonly value: SettingValue | null
  /** The value is set and not shown, because it is or may contain a secret. */
  readonly isHidden: boolean
  readonly origin: 'default' | 'file' | 'environment'
  /** The variable that the value comes from. */
  readonly variable: string | null
  /** Read again from its file while the server runs. */
  readonly isReloaded: boolean
  readonly description: string
}

export type SettingValue = string | number | boolean | readonly (string | number | boolean)[]

/**
 * Texts that are shown. Every other text is hidden, so that a new field with a secret is hidden although nobody thought of it
 * here. Numbers, flags and choices from a list are always shown.
 */
const shownTexts: ReadonlySet<string> = new Set([
  'server.host',
  'server.public_url',
  'server.admin_host',
  'server.metrics_host',
  'server.workers',
  'server.tls.cert_file',
  'server.tls.key_file',
  'storage.data_dir',
  'setup.keys_file',
  'upstreams[].name',
  'models[].name',
  'models[].targets[].upstream',
  'models[].targets[].model',
  'policies.judge.model',
  'moderation.classifier.model',
  'moderation.crisis_message',
  'console.oidc.issuer',
  'console.oidc.client_id',
  'console.oidc.name',
  'console.oidc.scopes',
  'console.oidc.groups_claim',
  'console.oidc.organization',
  'console.oidc.redirect_uri',
  'audit.archive.folder',
  'audit.archive.s3.bucket',
  'audit.archive.s3.region',
  'audit.archive.s3.prefix',
  'exports.allow_addresses',
  'budgets.tags',
  'mail.from',
  'mail.ca_file',
  'mail.allow_domains',
  'traces.service_name',
  'auth.jwt.issuer',
  'auth.jwt.audience',
  'auth.jwt.type',
  'auth.jwt.claims.organization',
  'auth.jwt.claims.project',
  'auth.jwt.claims.scope',
])

/** URLs of which only the host is shown, because their path or query may hold a key. */
const shownHosts: ReadonlySet<string> = new Set([
  'upstreams[].base_url',
  'moderation.classifier.base_url',
  'auth.jwt.jwks_url',
  'traces.endpoint',
  'audit.archive.s3.endpoint',
])

/** The schema keywords that the walk needs. */
type SettingNode = TSchema & {
  readonly properties?: Readonly<Record<string, SettingNode>>
  readonly items?: SettingNode
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly description?: string
}

/** A node of the schema with its value, and what was written for it. */
type Visited = {
  readonly node: SettingNode
  readonly value: unknown
  readonly written: unknown
  readonly key: string
  /** The key with `[]` for every index. */
  readonly pattern: string
}

type Sources = { readonly variables: ConfigOrigins['variables']; readonly reloaded: ReadonlySet<string> }

/** Every value that is in force, in the order of the schema, with its origin. */
export function effectiveSettings(config: Config): Setting[] {
  const { written, variables } = originsOf(config)
  const reloaded = new Set(fileValuesOf(config).map(({ field }) => field))
  return settingsIn({ node: ConfigSchema, value: config, written, key: '', pattern: '' }, { variables, reloaded })
}

function settingsIn(visited: Visited, sources: Sources): Setting[] {
  const { node, value, written, key, pattern } = visited
  const { properties, items } = node
  if (properties !== undefined && isRecord(value))
    return Object.entries(properties).flatMap(([name, child]) =>
      settingsIn(
        {
          node: child,
          value: value[name],
          written: childOf(written, name),
          key: joined(key, name),
          pattern: joined(pattern, name),
        },
        sources,
      ),
    )
  if (items?.properties !== undefined && Array.isArray(value) && value.length > 0)
    return value.flatMap((item: unknown, at) =>
      settingsIn(
        { node: items, value: item, written: childOf(written, at), key: `${key}[${at}]`, pattern: `${pattern}[]` },
        sources,
      ),
    )
  return [settingOf(visited, sources)]
}

function settingOf({ node, value, written, key, pattern }: Visited, { variables, reloaded }: Sources): Setting {
  const variable = variables.get(key) ?? null
  const shown = shownValue(node, value, pattern)
  return {
    key,
    value: shown ?? null,
    isHidden: value !== undefined && shown === undefined,
    origin: variable !== null ? 'environment' : written === undefined ? 'default' : 'file',
    variable,
    isReloaded: reloaded.has(key),
    description: node.description ?? '',
  }
}

/** Undefined if the value is not set, or hidden. */
function shownValue(node: SettingNode, value: unknown, pattern: string): SettingValue | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) {
    const isShown = value.length === 0 || node.items?.enum !== undefined || shownTexts.has(pattern)
    return isShown ? value.map(String) : undefined
  }
  if (typeof value !== 'string') return undefined
  if (node.enum !== undefined) return value
  if (shownHosts.has(pattern)) return hostOf(value)
  return shownTexts.has(pattern) ? value.replace(userinfo, '//') : undefined
}

/** The user and password of a URL. */
const userinfo = /\/\/[^/?#]*@/

const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).origin : undefined)

const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)

/** A section that is written as a plain value is written as a whole. */
const childOf = (written: unknown, name: string | number): unknown =>
  typeof written === 'object' && written !== null ? Object(written)[name] : written

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
