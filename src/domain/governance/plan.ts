import { Fault } from '../../base/fault.ts'
import { rolloutOf, type Rollout } from '../gateway/rollout.ts'
import { isOptionalCategory, type OptionalCategory } from '../moderation/categories.ts'
import type { Direction } from '../moderation/classifier.ts'
import type { RuleFacts } from '../policy/rule.ts'
import type { ActivePolicy, Gateway, Rulebook } from './rulebook.ts'

/** Whose texts are looked at, and what they asked for. */
export type Occasion = {
  readonly model: string
  readonly project: string
  /** The end user as the caller named them. */
  readonly user: string | undefined
  /** The credential: the subject of a rollout where no user is named. */
  readonly credentialId: string
  readonly metadata: RuleFacts['metadata']
  /** The label in `X-Policy-Target`. */
  readonly target: string | undefined
  /** Named in `X-Policy-Id`: policies that apply although they are attached to nothing. */
  readonly policyIds: readonly string[]
  /** Extra categories the caller wants blocked. */
  readonly flaggedCategories: readonly string[]
}

/** Which of an organization's rules hold for one occasion, and how. */
export type Plan = {
  readonly gateway: Gateway
  readonly rollout: Rollout
  readonly requested: readonly OptionalCategory[]
  readonly policies: Readonly<Record<Direction, readonly ActivePolicy[]>>
  readonly facts: Pick<RuleFacts, 'model' | 'project' | 'user' | 'metadata'>
}

export function planFor({ gateway, policies }: Rulebook, occasion: Occasion): Plan {
  const { model, project, user, metadata, credentialId, target, flaggedCategories } = occasion
  const applicable = policies.filter((policy) => isApplicable(policy, occasion))
  return {
    gateway,
    rollout: rolloutOf(gateway, { subject: user ?? credentialId, target }),
    requested: flaggedCategories.map(requestedCategory),
    policies: {
      request: applicable.filter(({ direction }) => direction !== 'response'),
      response: applicable.filter(({ direction }) => direction !== 'request'),
    },
    facts: { model, project, user: user ?? '', metadata },
  }
}

function isApplicable({ id, scope, projectIds }: ActivePolicy, { project, policyIds }: Occasion): boolean {
  if (scope === 'organization' || policyIds.includes(id)) return true
  return scope === 'projects' && projectIds.includes(project)
}

/** The doors let through what their schemas allow; this is for whoever calls from elsewhere. */
function requestedCategory(name: string): OptionalCategory {
  if (isOptionalCategory(name)) return name
  throw new Fault('validation', 'invalid_parameter', `There is no category ${name} to block.`, {
    param: 'flagged_categories',
  })
}
