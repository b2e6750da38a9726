import Type, { type Static } from 'typebox'
import { upstreamStates } from '../../../domain/inference/upstream-status.ts'
import { flag, integer, text, texts } from '../../described.ts'
import { DefinitionObject } from '../../resources/definition.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { deletedEntry, installedExample, storedFields } from '../models/stored.ts'

export const UpstreamParams = Type.Object({ upstream: idText('The name of the upstream, or its id.', 'echo') })

const example = {
  object: 'organization.upstream',
  name: 'openai',
  kind: 'openai-responses',
  state: 'resting',
  failures: 3,
  rest_until: 1_767_225_615,
  last_success_at: 1_767_225_000,
  last_error: { code: 'upstream_timeout', at: 1_767_225_600 },
  in_flight: 4,
  max_concurrent: 512,
  p95_ms: 820,
  defined_in: { source: 'file', file: './gatehouse.yaml', key: 'upstreams[0]' },
  ...installedExample,
}

export const UpstreamObject = Type.Object(
  {
    object: Type.Literal('organization.upstream'),
    name: text('The name that models refer to.'),
    kind: text('The API that it implements.'),
    state: Type.Enum([...upstreamStates], {
      description:
        '`ok`: the last call succeeded. `failing`: the last call failed. `resting`: after several failures, calls go to the other targets of a model until `rest_until`. `unknown`: this node has not called it since it started.',
    }),
    failures: integer('Failed calls since the last success.'),
    rest_until: orNull(unixTime('When it is tried again.'), 'When it is tried again; null if it is not resting.'),
    last_success_at: orNull(unixTime('The last success.'), 'When a call last succeeded; null: not since the start.'),
    last_error: orNull(
      Type.Object(
        { code: text('The code of the error.'), at: unixTime('When it happened.') },
        { title: 'UpstreamError' },
      ),
      'The last failed call; null: none since the start.',
    ),
    in_flight: integer('Calls that have not ended.'),
    max_concurrent: integer('The most concurrent calls.'),
    p95_ms: orNull(
      Type.Integer(),
      'Time in which 95 of 100 responses began, over the last 200 successful calls; null before the first.',
    ),
    defined_in: DefinitionObject,
    ...storedFields,
  },
  { title: 'Upstream', examples: [example] },
)

const node = Type.Object(
  { id: text('The id of the node. It changes when the node restarts.'), host: text('The name of its machine.') },
  { title: 'UpstreamNode', description: 'The node that answered.' },
)
const nodeExample = { id: 'node_01k9z8y7x6w5v4t3s2r1q0p9n8', host: 'gateway-1' }

export const UpstreamList = Type.Object(
  {
    object: Type.Literal('list'),
    node: orNull(node, 'The node that answered; null if only the upstreams of the organization are shown.'),
    data: Type.Array(UpstreamObject, {
      description: 'The upstreams in the order of the configuration, then those that the organization added.',
    }),
  },
  { title: 'UpstreamList', examples: [{ object: 'list', node: nodeExample, data: [example] }] },
)

export const ProbeObject = Type.Object(
  {
    object: Type.Literal('organization.upstream_probe'),
    upstream: text('The upstream.'),
    model: orNull(Type.String(), 'The model that was called; null if no model of the upstream is known.'),
    success: flag('Whether the upstream answered.'),
    ms: integer('How long the call took.'),
    error: orNull(
      Type.Object(
        { code: text('The code of the error.'), message: text('What went wrong.') },
        { title: 'UpstreamProbeError' },
      ),
      'Why the call failed; null if it succeeded.',
    ),
    node,
  },
  {
    title: 'UpstreamProbe',
    examples: [
      {
        object: 'organization.upstream_probe',
        upstream: 'openai',
        model: 'gpt-4.1-mini',
        success: true,
        ms: 412,
        error: null,
        node: nodeExample,
      },
    ],
  },
)

export const UpstreamTestObject = Type.Object(
  {
    object: Type.Literal('organization.upstream_test'),
    model: orNull(Type.String(), 'The model that was called; null if no model of the upstream is known.'),
    success: flag('Whether the upstream answered.'),
    ms: integer('How long the call took.'),
    error: ProbeObject.properties.error,
    models: texts('The models that the upstream lists.'),
  },
  {
    title: 'UpstreamTest',
    examples: [
      {
        object: 'organization.upstream_test',
        model: 'llama3.1',
        success: true,
        ms: 312,
        error: null,
        models: ['llama3.1', 'qwen3'],
      },
    ],
  },
)

export const OfferedModels = Type.Object(
  {
    object: Type.Literal('organization.upstream_models'),
    upstream: text('The upstream.'),
    models: orNull(Type.Array(Type.String()), 'Their names at the upstream; null if it has no list.'),
  },
  {
    title: 'UpstreamModels',
    examples: [{ object: 'organization.upstream_models', upstream: 'my-server', models: ['llama3.1', 'qwen3'] }],
  },
)

export const DeletedUpstream = deletedEntry('organization.upstream.deleted', 'DeletedUpstream')

export type UpstreamsBody = Static<typeof UpstreamList>
export type ProbeBody = Static<typeof ProbeObject>
