import { ConfigError, type Config, type Environment } from '../config/config.ts'
import type { Model } from '../domain/inference/catalogue.ts'

type UpstreamSettings = Config['upstreams'][number]
type ModelSettings = Config['models'][number]

/** An upstream as configured, or found by itself; `both-openai` answers each caller in the OpenAI dialect it speaks. */
export type EffectiveUpstream = Omit<UpstreamSettings, 'kind'> & {
  readonly kind: UpstreamSettings['kind'] | 'both-openai'
  /** Where it stands in the configuration, such as `upstreams[0]`; left out for one that was found. */
  readonly field?: string
}

type Found = {
  readonly upstream: EffectiveUpstream
  readonly models: readonly string[]
  /** One of them by its name, for a first request. */
  readonly example: string
}

/** Vendors whose key, or address, stands in the environment under the name their own tools use. */
function findUpstreams(env: Environment): Found[] {
  const found: Found[] = []
  const { OPENAI_API_KEY: openai, ANTHROPIC_API_KEY: anthropic, OLLAMA_HOST: ollama } = env
  if (openai) {
    const base_url = addressIn(env, 'OPENAI_BASE_URL') || 'https://api.openai.com/v1'
    found.push({
      upstream: { ...timeouts, name: 'openai', kind: 'both-openai', base_url, api_key: openai },
      models: ['gpt-*', 'chatgpt-*', 'codex-*', 'o1*', 'o3*', 'o4*'],
      example: 'gpt-4.1-mini',
    })
  }
  if (anthropic) {
    const base_url = addressIn(env, 'ANTHROPIC_BASE_URL') || 'https://api.anthropic.com'
    found.push({
      upstream: { ...timeouts, name: 'anthropic', kind: 'anthropic', base_url, api_key: anthropic },
      models: ['claude-*'],
      example: 'claude-sonnet-4-5',
    })
  }
  if (ollama) {
    const OLLAMA_HOST = /^https?:\/\//.test(ollama)
      ? ollama
      : `http://${ollama.includes(':') ? ollama : `${ollama}:11434`}`
    const host = addressIn({ OLLAMA_HOST }, 'OLLAMA_HOST').replace(/\/+$/, '')
    found.push({
      upstream: { ...timeouts, name: 'ollama', kind: 'openai-chat', base_url: `${host}/v1` },
      models: ['*'],
      example: 'llama3.1',
    })
  }
  return found
}

/** An address as a variable gives it; empty where it gives none. */
function addressIn(env: Environment, name: string): string {
  const address = env[name] ?? ''
  if (address === '' || (/^https?:/.test(address) && URL.canParse(address))) return address
  throw new ConfigError([`${name}: ${address} is not an http:// or https:// address`])
}

const timeouts = {
  timeout_ms: 600_000,
  connect_timeout_ms: 10_000,
  first_byte_timeout_ms: 300_000,
  idle_timeout_ms: 300_000,
  max_concurrent: 512,
  max_answer_bytes: 16 * 1024 * 1024,
}

/** What a house without any other upstream serves, so that the first request works on a fresh machine. */
const echo: Found = {
  upstream: { ...timeouts, name: 'echo', kind: 'echo' },
  models: ['gatehouse-echo'],
  example: 'gatehouse-echo',
}

/** The configured upstreams, those found in the environment, and the echo where there is none of either. */
export function effectiveUpstreams(config: Config, env: Environment): readonly EffectiveUpstream[] {
  const configured = new Set(config.upstreams.map(({ name }) => name))
  return [
    ...config.upstreams.map((upstream, at) => ({ ...upstream, field: `upstreams[${at}]` })),
    ...foundBeside(config, env)
      .map(({ upstream }) => upstream)
      .filter(({ name }) => !configured.has(name)),
  ]
}

/** The models of the catalogue; those written in the configuration come first and so win. */
export function effectiveModels(config: Config, env: Environment, nowMs: number): Model[] {
  const found = foundBeside(config, env).flatMap(({ upstream, models }) =>
    models.map((name) => foundModel(name, upstream, nowMs)),
  )
  return [...config.models.map((model) => configuredModel(model, nowMs)), ...found]
}

/** A model to begin with; undefined where only those who wrote the configuration know one. */
export const exampleModel = (config: Config, env: Environment): string | undefined =>
  config.models.find(({ name }) => !name.endsWith('*'))?.name ?? foundBeside(config, env)[0]?.example

/** What the names of upstreams and models leave open; a start with it would fail at the first request instead. */
export function namingProblems({ upstreams, models }: Config, effective: readonly EffectiveUpstream[]): string[] {
  const known = new Set(effective.map(({ name }) => name))
  const lost = models.flatMap(({ targets }, at) =>
    targets.flatMap(({ upstream }, place) =>
      known.has(upstream) ? [] : [`models[${at}].targets[${place}].upstream: there is no upstream ${upstream}`],
    ),
  )
  return [...repeated('upstreams', upstreams), ...repeated('models', models), ...lost]
}

function repeated(list: string, entries: readonly { readonly name: string }[]): string[] {
  const names = entries.map(({ name }) => name)
  return names.flatMap((name, at) => (names.indexOf(name) < at ? [`${list}[${at}].name: there are two ${name}`] : []))
}

function foundBeside(config: Config, env: Environment): Found[] {
  const found = findUpstreams(env)
  return found.length === 0 && config.upstreams.length === 0 ? [echo] : found
}

function configuredModel(settings: ModelSettings, createdAtMs: number): Model {
  const { name, price } = settings
  return {
    name,
    targets: settings.targets.map(({ upstream, model }) => ({ upstream, model: model ?? name })),
    contextTokens: settings.context_tokens,
    maxOutputTokens: settings.max_output_tokens,
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

/** How long a request may take: every target of its model in turn, and the last one twice. */
export function longestRequestMs(models: readonly Model[], upstreams: readonly EffectiveUpstream[]): number {
  const timeoutMs = new Map(upstreams.map(({ name, timeout_ms }) => [name, timeout_ms]))
  const longest = models.map(({ targets }) => {
    const each = targets.map(({ upstream }) => timeoutMs.get(upstream) ?? 0)
    return each.reduce((sum, ms) => sum + ms, each.at(-1) ?? 0)
  })
  return Math.max(0, ...longest)
}

/** Nobody told us its price, so it costs nothing; writing the model into the configuration gives it one. */
const foundModel = (name: string, upstream: EffectiveUpstream, createdAtMs: number): Model => ({
  name,
  targets: [{ upstream: upstream.name, model: name }],
  contextTokens: 200_000,
  maxOutputTokens: 8192,
  price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  freeTier: upstream.kind === 'echo',
  createdAtMs,
})
