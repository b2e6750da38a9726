/** Environment variables by name. */
type Variables = Readonly<Record<string, string | undefined>>

type Written = Record<string, unknown>

/** Sampling as the standard names it. The others have no meaning here and are ignored. */
const samplers: Readonly<Record<string, { readonly ratio: number | 'argument'; readonly follow_caller: boolean }>> = {
  always_on: { ratio: 1, follow_caller: false },
  always_off: { ratio: 0, follow_caller: false },
  traceidratio: { ratio: 'argument', follow_caller: false },
  parentbased_always_on: { ratio: 1, follow_caller: true },
  parentbased_always_off: { ratio: 0, follow_caller: true },
  parentbased_traceidratio: { ratio: 'argument', follow_caller: true },
}

/**
 * Adds the standard variables of OpenTelemetry to the section `traces`. Adds the path of each value to `variables`, with the
 * name of its variable. The variable of one signal takes precedence over the one of all signals.
 */
export function withOtelVariables(written: Written, env: Variables, variables: Map<string, string>): Written {
  const traces: Written = { ...(written['traces'] as Written | undefined) }
  const set = (key: string, name: string | undefined, read: (text: string) => unknown): void => {
    const value = name === undefined ? undefined : read(env[name] ?? '')
    if (name === undefined || value === undefined) return
    traces[key] = value
    variables.set(`traces.${key}`, name)
  }
  const first = (suffix: string): string | undefined =>
    [`OTEL_EXPORTER_OTLP_TRACES_${suffix}`, `OTEL_EXPORTER_OTLP_${suffix}`].find((name) => env[name])
  const sampler = samplers[env['OTEL_TRACES_SAMPLER'] ?? '']
  set('endpoint', first('ENDPOINT'), (url) => url)
  set('headers', first('HEADERS'), pairsOf)
  set('compression', first('COMPRESSION'), (text) => text)
  set('timeout_ms', first('TIMEOUT'), Number)
  set('resource_attributes', env['OTEL_RESOURCE_ATTRIBUTES'] ? 'OTEL_RESOURCE_ATTRIBUTES' : undefined, pairsOf)
  if (sampler !== undefined) {
    const argument = env['OTEL_TRACES_SAMPLER_ARG']
    set('sample_ratio', 'OTEL_TRACES_SAMPLER', () =>
      sampler.ratio === 'argument' ? Number(argument || 1) : sampler.ratio,
    )
    set('follow_caller', 'OTEL_TRACES_SAMPLER', () => sampler.follow_caller)
  }
  if (isOff(env)) delete traces['endpoint']
  return written['traces'] === undefined && Object.keys(traces).length === 0 ? written : { ...written, traces }
}

const isOff = (env: Variables): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER'] === 'none'

/** `name=value` pairs with commas between them. Values may be percent-encoded. */
function pairsOf(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.split('='))
    .filter(([name = '', ...value]) => name.trim() !== '' && value.length > 0)
  return Object.fromEntries(pairs.map(([name = '', ...value]) => [name.trim(), decoded(value.join('=').trim())]))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
