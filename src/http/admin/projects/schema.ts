import Type, { type Static } from 'typebox'
import { text } from '../../described.ts'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { projectStatuses } from '../../../domain/identity/store.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { managedBy } from '../../resources/managed-by.ts'
import { listOf, listQuery, nameSearch, pageExample } from '../../resources/list.ts'

const exampleId = 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'

export const ProjectParams = Type.Object({ project_id: idText('The project.', exampleId) })
export const ProjectQuery = listQuery({
  search: nameSearch,
  status: Type.Optional(Type.Enum([...projectStatuses], { description: 'Only projects with this status.' })),
})

const named = {
  name: text('The name of the project.', { minLength: 1, maxLength: maxNameLength, examples: ['Support chat'] }),
}
const strict = { additionalProperties: false, examples: [{ name: 'Support chat' }] }

export const CreateProject = Type.Object(named, { title: 'ProjectCreate', ...strict })
export const UpdateProject = Type.Object(named, { title: 'ProjectUpdate', ...strict })

const example = {
  id: exampleId,
  object: 'organization.project',
  name: 'Support chat',
  status: 'active',
  created_at: 1_767_225_600,
  archived_at: null,
}

export const ProjectObject = Type.Object(
  {
    id: text('The id of the project.'),
    object: Type.Literal('organization.project'),
    name: text('The name of the project.'),
    status: Type.Enum([...projectStatuses], { description: 'The keys of an archived project do not work.' }),
    created_at: unixTime('When it was created.'),
    archived_at: orNull(unixTime('When it was archived.')),
    managed_by: managedBy,
  },
  { title: 'Project', examples: [example] },
)

export const ProjectList = listOf('ProjectList', ProjectObject, pageExample(example))

export type ProjectBody = Static<typeof ProjectObject>
