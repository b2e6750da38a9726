import Type, { type Static } from 'typebox'
import { flag, integer, number, text, texts } from '../../described.ts'
import { DefinitionObject } from '../../resources/definition.ts'
import { deletedEntry, installedExample, storedFields } from './stored.ts'

const example = {
  object: 'organization.model',
  name: 'support-model',
  kind: 'model',
  names: ['support-model'],
  targets: [{ upstream: 'openai', upstream_kind: 'openai-responses', model: 'gpt-4.1-mini' }],
  context_tokens: 200_000,
  max_output_tokens: 8192,
  caps_output: true,
  price: { input: 0.4, output: 1.6, cache_read: 0.1, cache_write: 0.4 },
  may_use: { keys_with_all_models: 12, keys_that_list_it: 1, free_requests: false },
  defined_in: { source: 'file', file: './gatehouse.yaml', key: 'models[0]' },
  ...installedExample,
}

export const ServedModelObject = Type.Object(
  {
    object: Type.Literal('organization.model'),
    name: text('The name that callers send, or a prefix of such names that ends with `*`.'),
    kind: Type.Enum(['model', 'prefix'], { description: 'One model, or all models whose name has the prefix.' }),
    names: texts(
      'The names that callers can send. Of a prefix, the names that its upstreams list; empty if none of them has a list.',
    ),
    targets: Type.Array(
      Type.Object({
        upstream: text('The upstream.'),
        upstream_kind: text('The API that the upstream implements.'),
        model: text('The name of the model there; of a prefix, the prefix stands for the name that the caller sent.'),
      }),
      { description: 'In the order in which they are tried.' },
    ),
    context_tokens: integer('The context window: input and output tokens together.'),
    max_output_tokens: integer('The output limit of a request that names none.'),
    caps_output: flag('Whether `max_output_tokens` is also the most that a caller may request.'),
    price: Type.Object(
      {
        input: number('Input tokens that are not cached.'),
        output: number('Output tokens.'),
        cache_read: number('Input tokens read from the cache.'),
        cache_write: number('Input tokens written to the cache.'),
      },
      { description: 'USD per million tokens.' },
    ),
    may_use: Type.Object(
      {
        keys_with_all_models: integer('Active API keys of the organization that are not limited to some models.'),
        keys_that_list_it: integer('Active API keys of the organization that are limited to models and list this one.'),
        free_requests: flag('Whether a request without a key may use it.'),
      },
      { description: 'Who may use it.' },
    ),
    defined_in: DefinitionObject,
    ...storedFields,
  },
  { title: 'CatalogueModel', examples: [example] },
)

export const ServedModelList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(ServedModelObject, {
      description: 'The models in the order of the configuration, then those that the organization added.',
    }),
  },
  { title: 'CatalogueModelList', examples: [{ object: 'list', data: [example] }] },
)

export const DeletedModel = deletedEntry('organization.model.deleted', 'DeletedModel')

export type ServedModelsBody = Static<typeof ServedModelList>
