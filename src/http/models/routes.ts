import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { flag, integer, text } from '../described.ts'
import { Fault } from '../../base/fault.ts'
import { toUnixSeconds } from '../../base/clock.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import type { ModelSetOf } from '../../domain/inference/model-set.ts'
import type { CallerOf } from '../caller.ts'
import type { Route } from '../route.ts'
import { createQueryValidator, type Validate } from '../validate.ts'

const exampleModel = {
  id: 'gatehouse-echo',
  object: 'model',
  created: 1_767_225_600,
  owned_by: 'gatehouse',
  type: 'model',
  display_name: 'gatehouse-echo',
  created_at: '2026-01-01T00:00:00.000Z',
  max_input_tokens: 200_000,
}

const ModelObject = Type.Object(
  {
    id: text('The name to send as `model`.'),
    object: Type.Literal('model'),
    created: integer('When it was configured, in Unix seconds.'),
    owned_by: text('Always `gatehouse`.'),
    type: Type.Literal('model'),
    display_name: text('The name to display.'),
    created_at: text('When it was configured, in ISO 8601.'),
    max_input_tokens: Type.Optional(integer('The context length; missing if it is not known.')),
    max_tokens: Type.Optional(integer('Maximum number of output tokens; missing if it is not known.')),
  },
  { title: 'Model', examples: [exampleModel] },
)

const ModelList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(ModelObject, { description: 'The models of this page.' }),
    has_more: flag('Whether there are more models.'),
    first_id: Type.Union([Type.String(), Type.Null()], { description: 'The first model; null on an empty page.' }),
    last_id: Type.Union([Type.String(), Type.Null()], { description: 'The last model; null on an empty page.' }),
  },
  {
    title: 'ModelList',
    examples: [
      { object: 'list', data: [exampleModel], has_more: false, first_id: 'gatehouse-echo', last_id: 'gatehouse-echo' },
    ],
  },
)

const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1000, description: 'Maximum number of models.' }),
  after_id: Type.Optional(Type.String({ description: 'List the models after this one.' })),
  before_id: Type.Optional(Type.String({ description: 'List the models before this one.' })),
})

export type ModelsParts = { readonly modelSetOf: ModelSetOf; readonly callerOf: CallerOf }

/** One format that the SDKs of both vendors can read. A key sees the models that it may use. */
export function modelRoutes({ modelSetOf, callerOf }: ModelsParts): Route[] {
  const readQuery: Validate<Type.Static<typeof ListQuery>> = createQueryValidator(ListQuery)

  const visible = async (request: FastifyRequest): Promise<readonly Model[]> => {
    const { models, organization } = await callerOf.principal(request)
    const { modelDirectory } = await modelSetOf(organization.id)
    return (await modelDirectory.list()).filter((model) => models === null || models.includes(model.name))
  }

  return [
    {
      name: 'listModels',
      method: 'GET',
      path: '/v1/models',
      summary: 'List the models that this key may use',
      credential: 'api_key',
      sdk: { vendor: 'openai', method: 'models.list' },
      query: ListQuery,
      answers: { 200: { description: 'The models.', schema: ModelList } },
      errorStatuses: [401, 403, 422, 429, 500, 503],
      async handle(request) {
        const query = readQuery(request.query)
        const all = (await visible(request)).map(present)
        const window = within(all, query)
        const data = query.before_id === undefined ? window.slice(0, query.limit) : window.slice(-query.limit)
        const hasMore = window.length > data.length
        return {
          object: 'list',
          data,
          has_more: hasMore,
          first_id: data[0]?.id ?? null,
          last_id: data.at(-1)?.id ?? null,
        }
      },
    },
    {
      name: 'getModel',
      method: 'GET',
      path: '/v1/models/{model}',
      summary: 'Read one model',
      credential: 'api_key',
      sdk: { vendor: 'openai', method: 'models.retrieve' },
      params: Type.Object({ model: text('The model.', { examples: ['gatehouse-echo'] }) }),
      answers: { 200: { description: 'The model.', schema: ModelObject } },
      errorStatuses: [400, 401, 403, 404, 429, 500, 503],
      async handle(request) {
        const { models, organization } = await callerOf.principal(request)
        const { modelDirectory } = await modelSetOf(organization.id)
        const { model: name } = request.params as { model: string }
        const model = await modelDirectory.find(name)
        if (!model || (models !== null && !models.includes(model.name)))
          throw new Fault('not_found', 'model_not_found', `There is no model ${name.slice(0, 200)}.`, {
            param: 'model',
          })
        return present(model)
      },
    },
  ]
}

function within<M extends { readonly id: string }>(
  all: readonly M[],
  query: { after_id?: string; before_id?: string },
): readonly M[] {
  const from = query.after_id === undefined ? 0 : all.findIndex(({ id }) => id === query.after_id) + 1
  const to = query.before_id === undefined ? all.length : all.findIndex(({ id }) => id === query.before_id)
  return all.slice(from, to === -1 ? all.length : to)
}

const present = (model: Model) => ({
  id: model.name,
  object: 'model' as const,
  created: toUnixSeconds(model.createdAtMs),
  owned_by: 'gatehouse',
  type: 'model' as const,
  display_name: model.name,
  created_at: new Date(model.createdAtMs).toISOString(),
  // Clients plan by these numbers, so a default is not shown as if it were the size of the model.
  ...(model.isContextAssumed !== true && { max_input_tokens: model.contextTokens }),
  ...(model.capsOutput && { max_tokens: model.maxOutputTokens }),
})
