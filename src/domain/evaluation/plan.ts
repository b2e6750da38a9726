import { Fault } from '../../base/fault.ts'
import { rolloutOf, type Rollout } from '../gateway-config/rollout.ts'
import type { OnOwnModelCall } from '../inference/own-model-call.ts'
import {
  alwaysBlockedCategories,
  categories,
  isOptionalCategory,
  type Category,
  type OptionalCategory,
} from '../scan/classify/categories.ts'
import type { ClassificationReader, TextDirection } from '../scan/classify/classifier.ts'
import { injectionPlaces, type InjectionPlace } from '../scan/injection/places.ts'
import type { RuleFacts } from '../policy/rule.ts'
import { byDirection, createVariants, type VariantFor } from './policy-variants.ts'
import type { ActivePolicy, Gateway, Rulebook } from './rulebook.ts'
import type { StageLog } from './stage-log.ts'

/** The evaluation context of one request: model, project, end user, credential, and its policy headers. */
export type EvaluationContext = {
  readonly model: string
  readonly project: string
  /** The end user as the caller named them. */
  readonly user: string | undefined
  /** The subject of a percentage rollout if no user is named. */
  readonly credentialId: string
  readonly metadata: RuleFacts['metadata']
  /** The label in `X-Policy-Target`. */
  readonly target: string | undefined
  /** From `X-Policy-Id`: policies that apply although they are attached to nothing. */
  readonly policyIds: readonly string[]
  /** Additional categories that the request blocks. */
  readonly flaggedCategories: readonly string[]
  /** When it is evaluated. Exceptions that have ended by then do not apply. */
  readonly atMs: number
}

/** Which rules of an organization apply in one evaluation context, and whether they are enforced. */
export type Plan = {
  readonly organizationId: string
  readonly gateway: Gateway
  readonly rollout: Rollout
  readonly requested: readonly OptionalCategory[]
  readonly policies: Readonly<Record<TextDirection, readonly ActivePolicy[]>>
  readonly facts: Pick<RuleFacts, 'model' | 'project' | 'user' | 'metadata'>
  /** Called for each call to the judge, if the request is traced. */
  readonly onModelCall?: OnOwnModelCall
  /** The request that is evaluated; undefined in a simulation, and in a backtest. */
  readonly requestId?: string
  /** Undefined if nobody records the evaluation. */
  readonly stageLog?: StageLog
}

/** The part of a plan that does not depend on the caller. */
export type SharedPlan = Omit<Plan, 'organizationId' | 'facts' | 'onModelCall' | 'requestId' | 'stageLog'>

export function planFor(rulebook: Rulebook, context: EvaluationContext): Plan {
  const { model, project, user, metadata, credentialId, target, flaggedCategories } = context
  return {
    organizationId: rulebook.organizationId,
    gateway: rulebook.gateway,
    rollout: rolloutOf(rulebook.gateway, { subject: user ?? credentialId, target }),
    requested: flaggedCategories.length === 0 ? noneRequested : flaggedCategories.map(requestedCategory),
    policies: policiesFor(rulebook, context),
    facts: { model, project, user: user ?? '', metadata },
  }
}

const noneRequested: Plan['requested'] = []

/** The policies of a rulebook that apply in one context, and their variants for requests with exceptions. */
type AppliedPolicies = { readonly policies: Plan['policies']; readonly variantFor: VariantFor }

/** Cached per rulebook and project, so that requests without `X-Policy-Id` share the same policy lists by identity. */
const byProject = new WeakMap<Rulebook, Map<string, AppliedPolicies>>()
/** Bounds the cache, because callers may send any project name. */
const maxProjects = 1_000

function policiesFor(rulebook: Rulebook, context: EvaluationContext): Plan['policies'] {
  const { policies, variantFor } = appliedPolicies(rulebook, context)
  return variantFor(context) ?? policies
}

function appliedPolicies(rulebook: Rulebook, context: EvaluationContext): AppliedPolicies {
  if (context.policyIds.length > 0) return applicable(rulebook, context)
  const known = byProject.get(rulebook) ?? new Map<string, AppliedPolicies>()
  const cached = known.get(context.project)
  if (cached !== undefined) return cached
  const applied = applicable(rulebook, context)
  if (known.size < maxProjects) byProject.set(rulebook, known.set(context.project, applied))
  return applied
}

function applicable({ policies, exceptions }: Rulebook, context: EvaluationContext): AppliedPolicies {
  const applied = policies.filter((policy) => isApplicable(policy, context))
  return { policies: byDirection(applied), variantFor: createVariants(applied, exceptions) }
}

function isApplicable({ id, scope, projectIds }: ActivePolicy, { project, policyIds }: EvaluationContext): boolean {
  if (scope === 'organization' || policyIds.includes(id)) return true
  return scope === 'projects' && projectIds.includes(project)
}

/** HTTP schemas reject unknown categories already; this covers callers that use no schema. */
function requestedCategory(name: string): OptionalCategory {
  if (isOptionalCategory(name)) return name
  throw new Fault('validation', 'invalid_parameter', `There is no category ${name} to block.`, {
    param: 'flagged_categories',
  })
}

/** Memoises a computation for all plans that differ only in their facts. */
export function oncePerSharedPlan<T>(compute: (plan: SharedPlan) => T): (plan: SharedPlan) => T {
  const known = new WeakMap<Plan['policies'], { readonly plan: SharedPlan; readonly result: T }>()
  return ({ gateway, rollout, requested, policies }) => {
    const last = known.get(policies)
    const isSame = last?.plan.gateway === gateway && last.plan.rollout === rollout && last.plan.requested === requested
    if (isSame) return last.result
    const plan = { gateway, rollout, requested, policies }
    const result = compute(plan)
    known.set(policies, { plan, result })
    return result
  }
}

/** True if a rule of the plan needs personal data; otherwise the scan skips it. */
export const needsPersonalData = ({ gateway, policies }: SharedPlan, direction: TextDirection): boolean =>
  gateway.config.rules.redact ||
  policies[direction].some(
    ({ rule: { lookBehind } }) => lookBehind === 'whole' || (lookBehind !== 'paragraph' && lookBehind.personalData),
  )

/** The places in which a rule of the plan looks for prompt injections. */
export const injectionPlacesRead = oncePerSharedPlan(({ gateway, policies }): readonly InjectionPlace[] => {
  const modes = gateway.config.rules.prompt_injection
  const isRead = (place: InjectionPlace): boolean =>
    policies.request.some(({ rule }) => rule.injectionPlaces.includes(place))
  return injectionPlaces.filter((place) => modes[place] !== 'off' || isRead(place))
})

/** True if a prompt injection can change the verdict: the configuration blocks it in some place, or a rule reads it. */
export const actsOnInjections = oncePerSharedPlan(
  ({ gateway, policies }): boolean =>
    injectionPlaces.some((place) => gateway.config.rules.prompt_injection[place] === 'block') ||
    policies.request.some(({ rule }) => rule.injectionPlaces.length > 0),
)

/** The categories that a rule of the plan, the gateway configuration or the request itself reads. */
const readCategories: Readonly<Record<TextDirection, (plan: SharedPlan) => ReadonlySet<Category>>> = {
  request: oncePerSharedPlan((plan) => readIn(plan, 'request')),
  response: oncePerSharedPlan((plan) => readIn(plan, 'response')),
}

/** One set for each combination, because results are cached by it. */
const knownSets = new Map<string, ReadonlySet<Category>>()

function readIn({ gateway, requested, policies }: SharedPlan, direction: TextDirection): ReadonlySet<Category> {
  const read = new Set<string>([
    ...alwaysBlockedCategories,
    ...requested,
    ...gateway.config.rules.flagged_categories,
    ...policies[direction].flatMap(({ rule }) => rule.categories),
  ])
  const among = categories.filter((category) => read.has(category))
  const set = knownSets.get(among.join()) ?? new Set(among)
  knownSets.set(among.join(), set)
  return set
}

export const classificationReader = (plan: Plan, direction: TextDirection): ClassificationReader => ({
  categories: readCategories[direction](plan),
  organizationId: plan.organizationId,
})
