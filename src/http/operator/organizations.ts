import { operatorActor } from '../../domain/identity/operator.ts'
import type { NewOrganization, Organizations } from '../../domain/identity/organizations.ts'
import { pageOf, presentList } from '../resources/list.ts'
import { presentOrganization } from '../resources/organization.ts'
import type { Route } from '../route.ts'
import { installationRoute } from './route.ts'
import * as Schema from './organizations-schema.ts'
import type { AuditedMutation } from '../../domain/mutations/audited-mutation.ts'
import type { DirectoryStore } from '../../domain/identity/store.ts'
import type { Ids } from '../../base/ids.ts'

const organizationsPath = '/operator/organizations'

type OrganizationsParts<Stores extends { readonly directory: DirectoryStore }> = {
  readonly reads: { readonly directory: DirectoryStore }
  readonly mutate: AuditedMutation<Stores>
  readonly organizations: Organizations<Stores>
  readonly ids: Ids
}

/** The first start, and the organizations of the installation. */
export function organizationRoutes<Stores extends { readonly directory: DirectoryStore }>({
  reads,
  mutate,
  organizations,
  ids,
}: OrganizationsParts<Stores>): Route[] {
  return [
    installationRoute({
      name: 'setUp',
      method: 'POST',
      path: '/operator/setup',
      summary: 'Create the first organization, with a project and three keys',
      description: 'Fails with 409 `already_set_up` if an organization exists.',
      body: Schema.NamedOrganization,
      status: 201,
      answer: { description: 'What was created, with the keys.', schema: Schema.SetupAnswer },
      async operation({ body: { name } }) {
        const id = ids('org')
        const created = await mutate(operatorActor(id), (stores) => organizations.setUp(stores, { id, name }))
        return { organization_id: created.organization.id, ...presentKeys(created) }
      },
    }),
    installationRoute({
      name: 'listOrganizations',
      method: 'GET',
      path: organizationsPath,
      summary: 'List organizations',
      query: Schema.OrganizationQuery,
      answer: { description: 'A page of organizations.', schema: Schema.OrganizationList },
      operation: async ({ query }) =>
        presentList(await reads.directory.listOrganizations(pageOf(query)), presentOrganization),
    }),
    installationRoute({
      name: 'createOrganization',
      method: 'POST',
      path: organizationsPath,
      summary: 'Create an organization',
      body: Schema.NewOrganization,
      status: 201,
      answer: { description: 'The organization.', schema: Schema.CreatedOrganization },
      async operation({ body: { name, with_project: withProject } }) {
        const named = { id: ids('org'), name }
        const actor = operatorActor(named.id)
        if (!withProject)
          return presentOrganization(await mutate(actor, (stores) => organizations.create(stores, named)))
        const created = await mutate(actor, (stores) => organizations.createWithProject(stores, named))
        return { ...presentOrganization(created.organization), ...presentKeys(created) }
      },
    }),
  ]
}

const presentKeys = ({ projectId, adminKey, apiKey, applicationKey }: NewOrganization) => ({
  project_id: projectId,
  admin_key: adminKey,
  api_key: apiKey,
  application_key: applicationKey,
})
