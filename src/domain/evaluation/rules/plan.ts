import { Fault } from '../../../base/fault.ts'
import { rolloutOf, type Rollout } from '../../gateway-config/rollout.ts'
import { isOptionalCategory, type OptionalCategory } from '../../moderation/categories.ts'
import type { TextDirection } from '../../moderation/classifier.ts'
import type { RuleFacts } from '../../policy/rule.ts'
import type { ActivePolicy, Gateway, Rulebook } from './rulebook.ts'

/** Whose texts are looked at, and what they asked for. */
export type EvaluationContext = {
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
  readonly policies: Readonly<Record<TextDirection, readonly ActivePolicy[]>>
  readonly facts: Pick<RuleFacts, 'model' | 'project' | 'user' | 'metadata'>
}

/** All of a plan that does not depend on whose text it is. */
export type SharedPlan = Omit<Plan, 'facts'>

export function planFor(rulebook: Rulebook, occasion: EvaluationContext): Plan {
  const { model, project, user, metadata, credentialId, target, flaggedCategories } = occasion
  return {
    gateway: rulebook.gateway,
    rollout: rolloutOf(rulebook.gateway, { subject: user ?? credentialId, target }),
    requested: flaggedCategories.length === 0 ? nothingRequested : flaggedCategories.map(requestedCategory),
    policies: policiesFor(rulebook, occasion),
    facts: { model, project, user: user ?? '', metadata },
  }
}

const nothingRequested: Plan['requested'] = []

/** By project, for as long as the rulebook lives: the policies of two requests that name none are the same objects. */
const byProject = new WeakMap<Rulebook, Map<string, Plan['policies']>>()
/** The organization's own projects are few; names that anybody can make up must not pile up. */
const mostProjects = 1_000

function policiesFor(rulebook: Rulebook, occasion: EvaluationContext): Plan['policies'] {
  if (occasion.policyIds.length > 0) return applicable(rulebook, occasion)
  const known = byProject.get(rulebook) ?? new Map<string, Plan['policies']>()
  const kept = known.get(occasion.project)
  if (kept !== undefined) return kept
  const policies = applicable(rulebook, occasion)
  if (known.size < mostProjects) byProject.set(rulebook, known.set(occasion.project, policies))
  return policies
}

function applicable({ policies }: Rulebook, occasion: EvaluationContext): Plan['policies'] {
  const applied = policies.filter((policy) => isApplicable(policy, occasion))
  return {
    request: applied.filter(({ direction }) => direction !== 'response'),
    response: applied.filter(({ direction }) => direction !== 'request'),
  }
}

function isApplicable({ id, scope, projectIds }: ActivePolicy, { project, policyIds }: EvaluationContext): boolean {
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

/** Works something out once for all plans that differ in nothing but their facts. */
export function oncePerSharedPlan<T>(work: (plan: SharedPlan) => T): (plan: SharedPlan) => T {
  const known = new WeakMap<Plan['policies'], { readonly plan: SharedPlan; readonly worked: T }>()
  return ({ gateway, rollout, requested, policies }) => {
    const last = known.get(policies)
    const isSame = last?.plan.gateway === gateway && last.plan.rollout === rollout && last.plan.requested === requested
    if (isSame) return last.worked
    const plan = { gateway, rollout, requested, policies }
    const worked = work(plan)
    known.set(policies, { plan, worked })
    return worked
  }
}

/** Whether a rule has an eye on personal data; where none has, nobody need look for it. */
export const asksForPersonalData = ({ gateway, policies }: SharedPlan, direction: TextDirection): boolean =>
  gateway.config.rules.redact ||
  policies[direction].some(({ rule: { reach } }) => reach === 'whole' || reach.personalData)
