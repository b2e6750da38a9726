import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../base/clock.ts'
import { maxNameLength } from '../../domain/identity/bounds.ts'
import type { Organization } from '../../domain/identity/principal.ts'
import { tierOf, tiers } from '../../domain/limits/tiers.ts'
import { number, text } from '../described.ts'
import { unixTime } from './fields.ts'

export const organizationName = text('The name of the organization.', {
  minLength: 1,
  maxLength: maxNameLength,
  examples: ['Example Inc.'],
})

export const organizationExample = {
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
  { title: 'Organization', examples: [organizationExample] },
)

const microUsdPerUsd = 1_000_000

export const presentOrganization = (organization: Organization): Static<typeof OrganizationObject> => ({
  id: organization.id,
  object: 'organization',
  name: organization.name,
  plan: organization.plan,
  tier: tierOf(organization),
  lifetime_paid_usd: organization.lifetimePaidMicroUsd / microUsdPerUsd,
  metered: organization.metered,
  created_at: toUnixSeconds(organization.createdAtMs),
})

export type OrganizationBody = Static<typeof OrganizationObject>
