import Type, { type Static } from 'typebox'
import { text } from '../described.ts'
import { listOf, listQuery, pageExample } from '../resources/list.ts'
import { organizationExample, organizationName, OrganizationObject } from '../resources/organization.ts'

export const NamedOrganization = Type.Object(
  { name: organizationName },
  { title: 'SetupRequest', additionalProperties: false, examples: [{ name: 'Example Inc.' }] },
)

export const NewOrganization = Type.Object(
  {
    name: organizationName,
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

const gatewayKey =
  'The API key of the policy gateway: it also reads and changes the gateway configuration and export sinks, so it is not for applications. Only this response contains it.'
const applicationKey = 'The API key for applications, which only calls models. Only this response contains it.'

export const OrganizationQuery = listQuery({})

export const CreatedOrganization = Type.Object(
  {
    ...OrganizationObject.properties,
    project_id: Type.Optional(Type.String({ description: 'The project, if `with_project` was true.' })),
    admin_key: Type.Optional(Type.String({ description: 'The administrator key. Only this response contains it.' })),
    api_key: Type.Optional(Type.String({ description: gatewayKey })),
    application_key: Type.Optional(Type.String({ description: applicationKey })),
  },
  { title: 'CreatedOrganization', examples: [organizationExample] },
)

export const OrganizationList = listOf('OrganizationList', OrganizationObject, pageExample(organizationExample))

export const SetupAnswer = Type.Object(
  {
    organization_id: text('The organization.'),
    project_id: text('Its first project.'),
    admin_key: Type.String({ description: 'The administrator key. Only this response contains it.' }),
    api_key: Type.String({ description: gatewayKey }),
    application_key: Type.String({ description: applicationKey }),
  },
  {
    title: 'Setup',
    examples: [
      {
        organization_id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
        project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
        admin_key: 'adm_0123456789abcdefghijABCDEFGHIJklx7Qa00',
        api_key: 'ak_0123456789abcdefghijABCDEFGHIJklx7Qa00',
        application_key: 'ak_9876543210abcdefghijABCDEFGHIJklx7Qa11',
      },
    ],
  },
)

export type SetupBody = Static<typeof SetupAnswer>
export type CreatedOrganizationBody = Static<typeof CreatedOrganization>
