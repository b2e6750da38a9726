import Type from 'typebox'
import type { Clock } from '../../../base/clock.ts'
import { applyInProgress, type ApplyLeaseStore } from '../../../domain/mutations/apply-lease.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { integer, text } from '../../described.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'

const path = '/v1/organization/apply_lease'
const maxSeconds = 60

const holder = text('The run of the command: a random name.', { minLength: 1, maxLength: 100, examples: ['run_1'] })
const TakeLease = Type.Object(
  {
    holder,
    seconds: integer('How long the lease lasts unless it is extended.', { minimum: 1, maximum: maxSeconds }),
  },
  { title: 'ApplyLeaseTake', additionalProperties: false, examples: [{ holder: 'run_1', seconds: 30 }] },
)
const Holder = Type.Object({ holder }, { additionalProperties: false })
const Lease = Type.Object(
  { holder: text('The run that has the lease.') },
  { title: 'ApplyLease', examples: [{ holder: 'run_1' }] },
)

/** One of them is enough, because files may describe any of these resources. */
const applying = [
  'policies:write',
  'projects:write',
  'keys:write',
  'gateway:write',
  'exports:write',
  'models:write',
  'alerts:write',
  'budgets:write',
] as const
const requireApplying = ({ permissions }: Administrator): void => requirePermission(permissions, ...applying)
const needed = `Needs one of the permissions ${applying.map((each) => `\`${each}\``).join(', ')}.`

/** The lease under which `gatehouse apply` changes an organization, so that two runs cannot create a resource twice. */
export function applyLeaseRoutes(
  { mutation }: AdminRoutes<{ readonly applyLeases: ApplyLeaseStore }>,
  clock: Clock,
): Route[] {
  const common = { path, params: none } as const
  return [
    mutation({
      ...common,
      name: 'takeApplyLease',
      method: 'PUT',
      summary: 'Take or extend the lease of an apply',
      description: `While one run of \`gatehouse apply\` has the lease, another gets 409 \`apply_in_progress\`. The lease expires unless it is extended. ${needed}`,
      query: none,
      body: TakeLease,
      answer: { description: 'The lease.', schema: Lease },
      async operation({ applyLeases }, { actor, body }) {
        requireApplying(actor)
        const nowMs = clock.nowMs()
        const lease = { organizationId: actor.organization.id, holder: body.holder }
        const isTaken = await applyLeases.takeLease(lease, { nowMs, expiresAtMs: nowMs + body.seconds * 1000 })
        if (!isTaken) throw applyInProgress()
        return { value: lease }
      },
      present: ({ holder: name }) => ({ holder: name }),
    }),
    mutation({
      ...common,
      name: 'releaseApplyLease',
      method: 'DELETE',
      summary: 'Release the lease of an apply',
      description: needed,
      query: Holder,
      body: none,
      answer: { description: 'The holder that no longer has the lease.', schema: Lease },
      async operation({ applyLeases }, { actor, query }) {
        requireApplying(actor)
        const lease = { organizationId: actor.organization.id, holder: query.holder }
        await applyLeases.releaseLease(lease)
        return { value: lease }
      },
      present: ({ holder: name }) => ({ holder: name }),
    }),
  ]
}
