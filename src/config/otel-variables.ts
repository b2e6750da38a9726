import { Value } from 'typebox/value'
import { Traces } from './traces.ts'

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

/** Collects what the variables of the environment change. */
export type ReadVariables = {
  /** The variables that replaced a value, by its path. */
  readonly variables: Map<string, string>
  /** Why variables are ignored. */
  readonly warnings: string[]
}

/**
 * Adds the standard variables of OpenTelemetry to the section `traces`. The variable of one signal takes precedence over the
 * one of all signals. An invalid value is ignored with a warning, because these variables are often set for all containers
 * of a cluster.
 */
export function withOtelVariables(written: Written, env: Variables, { variables, warnings }: ReadVariables): Written {
  const traces: Written = { ...(written['traces'] as Written | undefined) }
  if (isOff(env)) return 'endpoint' in traces ? { ...written, traces: { ...traces, endpoint: undefined } } : written
  const set = (
    key: keyof typeof Traces.properties,
    name: string | undefined,
    read: (text: string) => unknown,
  ): void => {
    const text = name === undefined ? undefined : env[name]
    if (name === undefined || !text) return
    const value = read(text)
    const [problem] = Value.Errors(Traces.properties[key], value)
    if (problem !== undefined) return void warnings.push(`${name} is ignored: traces.${key} ${problem.message}`)
    traces[key] = value
    variables.set(`traces.${key}`, name)
  }
  const first = (suffix: string): string | undefined =>
    [`OTEL_EXPORTER_OTLP_TRACES_${suffix}`, `OTEL_EXPORTER_OTLP_${suffix}`].find((name) => env[name])
  set('endpoint', first('ENDPOINT'), (url) => url)
  set('headers', first('HEADERS'), pairsOf)
  set('compression', first('COMPRESSION'), (text) => text)
  set('timeout_ms', first('TIMEOUT'), Number)
  set('resource_attributes', 'OTEL_RESOURCE_ATTRIBUTES', pairsOf)
  set('service_name', 'OTEL_SERVICE_NAME', (text) => text)
  if (variables.has('traces.service_name')) traces['resource_attributes'] = withoutServiceName(traces)
  const name = env['OTEL_TRACES_SAMPLER']?.toLowerCase() ?? ''
  const sampler = samplers[name]
  if (sampler !== undefined) {
    const { ratio, follow_caller: followsCaller } = sampler
    if (ratio !== 'argument') set('sample_ratio', 'OTEL_TRACES_SAMPLER', () => ratio)
    else if (env['OTEL_TRACES_SAMPLER_ARG']) set('sample_ratio', 'OTEL_TRACES_SAMPLER_ARG', Number)
    else set('sample_ratio', 'OTEL_TRACES_SAMPLER', () => 1)
    set('follow_caller', 'OTEL_TRACES_SAMPLER', () => followsCaller)
  } else if (name !== '') warnings.push(`OTEL_TRACES_SAMPLER is ignored: the sampler ${name} is not supported`)
  return written['traces'] === undefined && Object.keys(traces).length === 0 ? written : { ...written, traces }
}

const isOff = (env: Variables): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || env['OTEL_TRACES_EXPORTER']?.toLowerCase() === 'none'

/** `OTEL_SERVICE_NAME` takes precedence over the name among the attributes. */
function withoutServiceName({ resource_attributes: attributes }: Written): unknown {
  if (typeof attributes !== 'object' || attributes === null) return attributes
  return Object.fromEntries(Object.entries(attributes).filter(([key]) => key !== 'service.name'))
}

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
