import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { viewPages, type SavedView, type ViewReader } from '../../../domain/views/view-store.ts'
import { flag, text } from '../../described.ts'
import { idText, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

const exampleId = 'view_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const ViewParams = Type.Object({ view_id: idText('The view.', exampleId) })

export const ViewQuery = listQuery({
  page: Type.Optional(Type.Enum([...viewPages], { description: 'Only views of this page.' })),
})

const name = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'The name of the view.',
  examples: ['Denied this week'],
})
const query = Type.String({
  maxLength: 2_000,
  pattern: '^[^\\u0000]*$',
  description: 'The query of the page’s address, without the question mark: filters, columns and the time range.',
  examples: ['status=denied&range=7d'],
})
const page = Type.Enum([...viewPages], { description: 'The page of the console.' })
const isShared = (description: string) => Type.Boolean({ description })

export const CreateView = Type.Object(
  {
    name,
    page,
    query,
    shared: Type.Optional(
      isShared('True: everybody who may read requests sees it; needs `policies:write`. Default: false.'),
    ),
  },
  {
    title: 'ViewCreate',
    additionalProperties: false,
    examples: [{ name: 'Denied this week', page: 'requests', query: 'status=denied&range=7d', shared: false }],
  },
)

export const UpdateView = Type.Object(
  {
    name: Type.Optional(name),
    query: Type.Optional(query),
    shared: Type.Optional(isShared('Whether everybody who may read requests sees it.')),
  },
  { title: 'ViewUpdate', additionalProperties: false, examples: [{ name: 'Denied in seven days' }] },
)

const example = {
  id: exampleId,
  object: 'organization.view',
  name: 'Denied this week',
  page: 'requests',
  query: 'status=denied&range=7d',
  shared: true,
  owner_id: 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8',
  is_own: false,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

export const ViewObject = Type.Object(
  {
    id: text('The id of the view.'),
    object: Type.Literal('organization.view'),
    name: text('The name of the view.'),
    page,
    query: text('The query of the page’s address.'),
    shared: flag('Whether everybody who may read requests sees it.'),
    owner_id: text('The administrator key or member that saved it.'),
    is_own: flag('Whether the caller saved it.'),
    created_at: unixTime('When it was saved.'),
    updated_at: unixTime('When it was changed.'),
  },
  { title: 'View', examples: [example] },
)

export const ViewList = listOf('ViewList', ViewObject, pageExample(example))

export const DeletedView = Type.Object(
  {
    id: text('The view that was deleted.'),
    object: Type.Literal('organization.view.deleted'),
    deleted: Type.Literal(true),
  },
  { title: 'ViewDeleted', examples: [{ id: exampleId, object: 'organization.view.deleted', deleted: true }] },
)

/** As this reader sees it. */
export const viewPresenter =
  ({ ownerId }: ViewReader) =>
  (view: SavedView): Static<typeof ViewObject> => ({
    id: view.id,
    object: 'organization.view',
    name: view.name,
    page: view.page,
    query: view.query,
    shared: view.isShared,
    owner_id: view.ownerId,
    is_own: view.ownerId === ownerId,
    created_at: toUnixSeconds(view.createdAtMs),
    updated_at: toUnixSeconds(view.updatedAtMs),
  })
