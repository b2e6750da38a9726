import { ConfigError, type Config, type Environment } from '../../config/config.ts'
import { originsOf } from '../../config/origins.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { Definition } from '../../domain/inference/served-models.ts'
import { hasEmbeddings, kindFacts } from '../../adapters/providers/registry.ts'

type UpstreamSettings = Config['upstreams'][number]
type ModelSettings = Config['models'][number]

/** An upstream from the configuration or from the environment. `both-openai` has both of OpenAI's formats. */
export type EffectiveUpstream = Omit<UpstreamSettings, 'kind'> & {
  readonly kind: UpstreamSettings['kind'] | 'both-openai'
  /** Its path in the configuration, such as `upstreams[0]`; undefined for one from the environment. */
  readonly field?: string
}

type DetectedUpstream = {
  readonly upstream: EffectiveUpstream
  /** The variable that names it; undefined for the echo upstream. */
  readonly variable?: string
  readonly models: readonly string[]
  /** The name of one of them, for a first request. Undefined if only the upstream knows their names. */
  readonly example?: string
}

/** OpenAI's models for embeddings. */
const embeddingModels = 'text-embedding-*'

/** Upstreams whose key or URL is in the environment, under the name that the vendor's own tools use. */
function detectUpstreams(env: Environment): DetectedUpstream[] {
  const detected: DetectedUpstream[] = []
  const { OPENAI_API_KEY: openai, ANTHROPIC_API_KEY: anthropic, OLLAMA_HOST: ollama } = env
  if (openai) {
    const base_url = urlIn(env, 'OPENAI_BASE_URL') || 'https://api.openai.com/v1'
    detected.push({
      upstream: { ...timeouts, name: 'openai', kind: 'both-openai', base_url, api_key: openai },
      variable: 'OPENAI_API_KEY',
      models: ['gpt-*', 'chatgpt-*', 'codex-*', 'o1*', 'o3*', 'o4*', embeddingModels],
      example: 'gpt-4.1-mini',
    })
  }
  if (anthropic) {
    const base_url = urlIn(env, 'ANTHROPIC_BASE_URL') || 'https://api.anthropic.com'
    detected.push({
      upstream: { ...timeouts, name: 'anthropic', kind: 'anthropic', base_url, api_key: anthropic },
      variable: 'ANTHROPIC_API_KEY',
      models: ['claude-*'],
      example: 'claude-sonnet-4-5',
    })
  }
  if (ollama) {
    const OLLAMA_HOST = /^https?:\/\//.test(ollama)
      ? ollama
      : `http://${ollama.includes(':') ? ollama : `${ollama}:11434`}`
    const host = urlIn({ OLLAMA_HOST }, 'OLLAMA_HOST').replace(/\/+$/, '')
    detected.push({
      upstream: { ...timeouts, name: 'ollama', kind: 'openai-chat', server: 'ollama', base_url: `${host}/v1` },
      variable: 'OLLAMA_HOST',
      models: ['*'],
    })
  }
  return detected
}

/** The URL in a variable, or an empty text if it is not set. */
function urlIn(env: Environment, name: string): string {
  const address = env[name] ?? ''
  if (address === '' || (/^https?:/.test(address) && URL.canParse(address))) return address
  throw new ConfigError([`${name}: ${address} is not an http:// or https:// URL`])
}

const timeouts = {
  timeout_ms: 600_000,
  connect_timeout_ms: 10_000,
  first_byte_timeout_ms: 300_000,
  idle_timeout_ms: 300_000,
  max_concurrent: 512,
  queue_timeout_ms: 10_000,
  max_answer_bytes: 16 * 1024 * 1024,
}

/** Used if there is no other upstream, so that the first request works on a fresh machine. */
const echo: DetectedUpstream = {
  upstream: { ...timeouts, name: 'echo', kind: 'echo' },
  models: ['gatehouse-echo'],
  example: 'gatehouse-echo',
}

/** The configured upstreams and those of the environment, or the echo upstream if there is none. */
export function effectiveUpstreams(config: Config, env: Environment): readonly EffectiveUpstream[] {
  const configured = new Set(config.upstreams.map(({ name }) => name))
  return [
    ...config.upstreams.map((upstream, at) => ({ ...upstream, field: `upstreams[${at}]` })),
    ...detectedOrEcho(config, env)
      .map(({ upstream }) => upstream)
      .filter(({ name }) => !configured.has(name)),
  ]
}

/** The models of the catalogue. Configured models come first and take precedence. */
export function effectiveModels(config: Config, env: Environment, nowMs: number): Model[] {
  const detected = detectedOrEcho(config, env).flatMap(({ upstream, models }) =>
    models.map((name) => detectedModel(name, upstream, nowMs)),
  )
  const able = new Set(
    effectiveUpstreams(config, env)
      .filter(canEmbed)
      .map(({ name }) => name),
  )
  return [...config.models.map((model) => configuredModel(model, nowMs)), ...detected].map((model) =>
    model.targets.some(({ upstream }) => able.has(upstream)) ? model : { ...model, operations: ['chat'] },
  )
}

/** Where each upstream is defined, by name. */
export const upstreamDefinitions = (config: Config, env: Environment): ReadonlyMap<string, Definition> =>
  new Map([
    ...detectedOrEcho(config, env).map(({ upstream, variable }) => [upstream.name, inEnvironment(variable)] as const),
    ...config.upstreams.map(({ name }, at) => [name, inFile(config, `upstreams[${at}]`)] as const),
  ])

/** What the kind of an upstream implies. */
export const factsOfKind = ({ kind }: EffectiveUpstream) =>
  kindFacts(kind === 'both-openai' ? 'openai-responses' : kind)

/** The kind for administrators: `openai` has both of OpenAI's formats. */
export const kindOf = ({ kind }: EffectiveUpstream): string => (kind === 'both-openai' ? 'openai' : kind)

/** Where each model of `effectiveModels` is defined, in the same order. */
export const modelDefinitions = (config: Config, env: Environment): Definition[] => [
  ...config.models.map((_, at) => inFile(config, `models[${at}]`)),
  ...detectedOrEcho(config, env).flatMap(({ models, variable }) => models.map(() => inEnvironment(variable))),
]

const inFile = (config: Config, key: string): Definition => ({
  source: 'file',
  file: originsOf(config).file ?? null,
  key,
})

const inEnvironment = (variable: string | undefined): Definition =>
  variable === undefined
    ? { source: 'built_in', file: null, key: null }
    : { source: 'environment', file: null, key: variable }

/** A model for a first request; undefined if there are only name patterns of upstreams that are not a vendor's. */
export const exampleModel = (config: Config, env: Environment): string | undefined =>
  config.models.find(({ name, operations }) => !name.endsWith('*') && operations?.includes('chat') !== false)?.name ??
  detectedOrEcho(config, env).find(({ example }) => example !== undefined)?.example

/** A model of an upstream from the environment, if its name is known without asking the upstream. */
export const exampleOf = (upstream: string, config: Config, env: Environment): string | undefined =>
  detectedOrEcho(config, env).find((detected) => detected.upstream.name === upstream)?.example

/** Names that are repeated or refer to nothing. The start fails with them, instead of the first request. */
export function namingProblems({ upstreams, models }: Config, effective: readonly EffectiveUpstream[]): string[] {
  const known = new Set(effective.map(({ name }) => name))
  const unknown = models.flatMap(({ targets }, at) =>
    targets.flatMap(({ upstream }, targetAt) =>
      known.has(upstream) ? [] : [`models[${at}].targets[${targetAt}].upstream: there is no upstream ${upstream}`],
    ),
  )
  const withoutEmbeddings = new Set(effective.filter((upstream) => !canEmbed(upstream)).map(({ name }) => name))
  const unable = models.flatMap(({ operations, targets }, at) =>
    targets.flatMap(({ upstream }, targetAt) =>
      operations?.includes('embeddings') && withoutEmbeddings.has(upstream)
        ? [`models[${at}].targets[${targetAt}].upstream: ${upstream} has no embeddings`]
        : [],
    ),
  )
  return [...repeated('upstreams', upstreams), ...repeated('models', models), ...unknown, ...unable]
}

export const canEmbed = ({ kind }: EffectiveUpstream): boolean => kind === 'both-openai' || hasEmbeddings(kind)

function repeated(list: string, entries: readonly { readonly name: string }[]): string[] {
  const names = entries.map(({ name }) => name)
  return names.flatMap((name, at) => (names.indexOf(name) < at ? [`${list}[${at}].name: there are two ${name}`] : []))
}

function detectedOrEcho(config: Config, env: Environment): DetectedUpstream[] {
  const detected = detectUpstreams(env)
  return detected.length === 0 && config.upstreams.length === 0 ? [echo] : detected
}

/** Held for a request that names no limit, and sent to upstreams whose format requires one. */
const defaultOutputTokens = 8192
/** The bound for a model whose context window is not known. */
const defaultContextTokens = 200_000

export function configuredModel(settings: ModelSettings, createdAtMs: number): Model {
  const { name, price } = settings
  return {
    name,
    targets: settings.targets.map(({ upstream, model }) => ({ upstream, model: model ?? name })),
    operations: settings.operations,
    contextTokens: settings.context_tokens ?? defaultContextTokens,
    isContextAssumed: settings.context_tokens === undefined,
    maxOutputTokens: settings.max_output_tokens ?? defaultOutputTokens,
    capsOutput: settings.max_output_tokens !== undefined,
    price: {
      input: price.input,
      output: price.output,
      cacheRead: price.cache_read ?? price.input,
      cacheWrite: price.cache_write ?? price.input,
    },
    freeTier: settings.free_tier,
    createdAtMs,
  }
}

/** The longest time of a request: every target of its model in order, and the last one twice, each time after its queue. */
export function longestRequestMs(models: readonly Model[], upstreams: readonly EffectiveUpstream[]): number {
  const byName = new Map(upstreams.map((upstream) => [upstream.name, upstream]))
  const longest = models.map(({ targets }) => {
    const each = targets.map(({ upstream }) => byName.get(upstream)?.timeout_ms ?? 0)
    const queueMs = byName.get(targets.at(-1)?.upstream ?? '')?.queue_timeout_ms ?? 0
    return each.reduce((sum, ms) => sum + ms, (each.at(-1) ?? 0) + 2 * queueMs)
  })
  return Math.max(0, ...longest)
}

/** It is free, because its price is not known. A model with a price has to be configured. */
const detectedModel = (name: string, upstream: EffectiveUpstream, createdAtMs: number): Model => ({
  name,
  targets: [{ upstream: upstream.name, model: name }],
  operations: name === embeddingModels ? ['embeddings'] : undefined,
  contextTokens: defaultContextTokens,
  isContextAssumed: upstream.kind !== 'echo',
  maxOutputTokens: defaultOutputTokens,
  capsOutput: false,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  freeTier: upstream.kind === 'echo',
  createdAtMs,
})
