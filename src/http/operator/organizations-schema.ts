import Type from 'typebox'
import { number, text } from '../described.ts'
import { maxNameLength } from '../../domain/identity/bounds.ts'
import { plans, tiers } from '../../domain/limits/tiers.ts'
import { unixTime } from '../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../resources/list.ts'

const name = text('The name of the organization.', {
  minLength: 1,
  maxLength: maxNameLength,
  examples: ['Example Inc.'],
})

export const NamedOrganization = Type.Object(
  { name },
  { title: 'SetupRequest', additionalProperties: false, examples: [{ name: 'Example Inc.' }] },
)

export const NewOrganization = Type.Object(
  {
    name,
    with_project: Type.Optional(
      Type.Boolean({ default: false, description: 'Also create a project, an administrator key and an API key.' }),
    ),
  },
  {
    title: 'OrganizationCreate',
    additionalProperties: false,
    examples: [{ name: 'Example Inc.', with_project: true }],
  },
)

export const UpdateOrganization = Type.Object(
  {
    plan: Type.Optional(
      Type.String({ maxLength: 64, description: `One of: ${plans.join(', ')}.`, examples: ['growth'] }),
    ),
    metered: Type.Optional(Type.Boolean({ description: 'Whether requests cost credits.' })),
  },
  { title: 'OrganizationUpdate', additionalProperties: false, minProperties: 1, examples: [{ plan: 'growth' }] },
)

export const OrganizationQuery = listQuery({})

const example = {
  id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
  object: 'organization',
  name: 'Example Inc.',
  plan: 'growth',
  tier: 'tier_2',
  lifetime_paid_usd: 20,
  metered: true,
  created_at: 1_767_225_600,
}

export const OrganizationObject = Type.Object(
  {
    id: text('The id of the organization.'),
    object: Type.Literal('organization'),
    name: text('The name of the organization.'),
    plan: text('The plan of the organization.'),
    tier: Type.Enum([...tiers], { description: 'The higher of the tier of the plan and the tier of the payments.' }),
    lifetime_paid_usd: number('All payments so far, in dollars.'),
    metered: Type.Boolean({ description: 'Whether requests cost credits.' }),
    created_at: unixTime('When it was created.'),
  },
  { title: 'Organization', examples: [example] },
)

export const CreatedOrganization = Type.Object(
  {
    ...OrganizationObject.properties,
    project_id: Type.Optional(Type.String({ description: 'The project, if `with_project` was true.' })),
    admin_key: Type.Optional(Type.String({ description: 'The administrator key. Only this response contains it.' })),
    api_key: Type.Optional(Type.String({ description: 'The API key. Only this response contains it.' })),
  },
  { title: 'CreatedOrganization', examples: [example] },
)

export const OrganizationList = listOf('OrganizationList', OrganizationObject, pageExample(example))

export const SetupAnswer = Type.Object(
  {
    organization_id: text('The organization.'),
    project_id: text('Its first project.'),
    admin_key: Type.String({ description: 'The administrator key. Only this response contains it.' }),
    api_key: Type.String({ description: 'The API key. Only this response contains it.' }),
  },
  {
    title: 'Setup',
    examples: [
      {
        organization_id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
        project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
        admin_key: 'adm_0123456789abcdefghijABCDEFGHIJklx7Qa00',
        api_key: 'ak_0123456789abcdefghijABCDEFGHIJklx7Qa00',
      },
    ],
  },
)
