import Type from 'typebox'
import { section } from './section.ts'

/** Undici accepts no credentials in a URL; `headers` is the place for them. */
function isCollectorUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, hostname } = new URL(text)
  return username === '' && password === '' && hostname !== ''
}

export const Traces = section(
  {
    endpoint: Type.Optional(
      Type.Refine(
        Type.String({
          pattern: '^https?://',
          description:
            'URL of an OpenTelemetry collector that accepts OTLP over HTTP; `/v1/traces` is appended unless the path ends in it. Without it no traces are recorded. Also `OTEL_EXPORTER_OTLP_ENDPOINT`; see [the guide](guide/traces.md) for all `OTEL_` variables.',
        }),
        isCollectorUrl,
        () => 'must be a URL such as http://127.0.0.1:4318, without credentials: write these to traces.headers',
      ),
    ),
    headers: Type.Record(Type.String(), Type.String(), {
      default: {},
      description:
        'Headers of each export, such as a token. Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
    }),
    sample_ratio: Type.Number({
      default: 1,
      minimum: 0,
      maximum: 1,
      description: 'Share of requests that are recorded, if their caller has not decided it.',
    }),
    follow_caller: Type.Boolean({
      default: true,
      description:
        'With `parent: continue`: whether the flag of the caller decides if a request is recorded. False: `sample_ratio` decides.',
    }),
    parent: Type.Enum(['continue', 'link', 'ignore'], {
      default: 'continue',
      description:
        'What happens to the `traceparent` of a caller. `continue`: the request is part of the caller’s trace. `link`: it has a trace of its own that links to the caller’s. `ignore`: it has a trace of its own. Use `link` or `ignore` if callers are not yours.',
    }),
    content: Type.Boolean({
      default: false,
      description:
        'Whether the spans of model calls contain the messages of requests and responses, with personal data redacted.',
    }),
    compression: Type.Enum(['gzip', 'none'], { default: 'none', description: 'Compression of exports.' }),
    timeout_ms: Type.Integer({ default: 10_000, minimum: 100, maximum: 60_000, description: 'Timeout of an export.' }),
    service_name: Type.String({
      default: 'gatehouse',
      minLength: 1,
      maxLength: 255,
      description: '`service.name` of the traces. Also `OTEL_SERVICE_NAME`.',
    }),
    resource_attributes: Type.Record(Type.String(), Type.String(), {
      default: {},
      description: 'Further attributes of the resource, such as `deployment.environment.name`.',
    }),
  },
  'OpenTelemetry traces.',
)
