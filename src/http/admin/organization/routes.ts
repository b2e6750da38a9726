import Type from 'typebox'
import { existing } from '../../../domain/identity/operator.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { updateOrganization } from '../../../domain/limits/set-limits.ts'
import { plans } from '../../../domain/limits/tiers.ts'
import { MeObject, presentMe, type Features } from './me.ts'
import { none } from '../../resources/fields.ts'
import { organizationName, OrganizationObject, presentOrganization } from '../../resources/organization.ts'
import type { Route } from '../../route.ts'
import { requireCreditManager, type CreditAuthority } from '../credits/authority.ts'
import type { AdminRoutes } from '../routes.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { JudgeStore } from '../../../domain/judges/judge.ts'
import type { MemberStore } from '../../../domain/members/member-store.ts'

const path = '/v1/organization'
const answer = { description: 'The organization.', schema: OrganizationObject }

const UpdateOrganization = Type.Object(
  {
    name: Type.Optional(organizationName),
    plan: Type.Optional(
      Type.String({
        maxLength: 64,
        description: `One of: ${plans.join(', ')}. The tier is the higher of the plan's and that of the payments.`,
        examples: ['growth'],
      }),
    ),
    metered: Type.Optional(Type.Boolean({ description: 'Whether requests cost credits.' })),
  },
  { title: 'OrganizationUpdate', additionalProperties: false, examples: [{ name: 'Example Inc.', plan: 'growth' }] },
)

type OrganizationReads = {
  readonly directory: DirectoryStore
  readonly members: MemberStore
  readonly judges: Pick<JudgeStore, 'inForce'>
}

type OrganizationRouteParts = CreditAuthority & {
  /** What is configured, for clients that show it. An organization may have a judge of its own. */
  readonly features: Features
  /** `budgets.tags` of the configuration. */
  readonly tags: readonly string[]
  readonly version: string
  /** Where models are called; null if it is the address that administration is requested at. */
  readonly inferenceUrl: () => string | null
}

/** `/v1/organization` itself. */
export function organizationRoutes(
  { read, mutation }: AdminRoutes<OrganizationReads>,
  parts: OrganizationRouteParts,
): Route[] {
  return [
    read({
      name: 'getOrganization',
      path,
      summary: 'Read the organization',
      permission: 'projects:read',
      params: none,
      query: none,
      answer,
      operation: async ({ directory }, { actor: { organization } }) =>
        presentOrganization(existing(organization.id, await directory.findOrganization(organization.id))),
    }),
    read({
      name: 'getMe',
      path: `${path}/me`,
      summary: 'Read who you are',
      description: 'The key or session of this request, its permissions and its organization.',
      params: none,
      query: none,
      answer: { description: 'The caller.', schema: MeObject },
      async operation({ directory, members, judges }, { actor }) {
        const { id: organizationId } = actor.organization
        const organization = existing(organizationId, await directory.findOrganization(organizationId))
        const name = await nameOf({ directory, members }, actor)
        const { tags, version } = parts
        const { active } = await judges.inForce(organizationId)
        const features = { ...parts.features, judge: parts.features.judge || active !== undefined }
        const owners = await ownersOf(members, organizationId)
        const inferenceUrl = parts.inferenceUrl()
        return presentMe({ ...actor, organization }, { name, features, tags, inferenceUrl, version, owners })
      },
    }),
    mutation({
      name: 'updateOrganization',
      method: 'PATCH',
      path,
      summary: 'Rename the organization, set its plan, or whether it is metered',
      description:
        'Fields that are left out stay as they are. `name` needs `projects:write`; `plan` and `metered` need `credits:write`.',
      permission: 'projects:write',
      orPermission: 'credits:write',
      params: none,
      query: none,
      body: UpdateOrganization,
      answer,
      operation({ directory }, { actor, body }) {
        if (body.name !== undefined) requirePermission(actor.permissions, 'projects:write')
        if (body.plan !== undefined || body.metered !== undefined) requireCreditManager(actor, parts)
        return updateOrganization(directory, actor.organization.id, body)
      },
      present: presentOrganization,
    }),
  ]
}

async function nameOf(
  { directory, members }: Pick<OrganizationReads, 'directory' | 'members'>,
  { kind, id, organization }: Administrator,
): Promise<string | undefined> {
  if (kind !== 'member') return (await directory.findAdminKey(organization.id, id))?.name
  const member = await members.findMember(organization.id, id)
  return member?.name ?? member?.email ?? undefined
}

async function ownersOf(members: MemberStore, organizationId: string): Promise<readonly string[]> {
  const page = { role: 'owner', status: 'active', order: 'asc', limit: 3 } as const
  const { items } = await members.listMembers(organizationId, page)
  // Names only: a caller may lack the permission to see members and their addresses.
  return items.flatMap(({ name }) => name ?? [])
}
