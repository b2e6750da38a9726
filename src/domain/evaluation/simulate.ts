import { unsaved, type GatewayConfiguration } from '../gateway-config/configuration.ts'
import type { TextDirection } from '../moderation/classifier.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import type { Evaluation, Evaluate } from './evaluate.ts'
import { planFor, type Plan } from './plan.ts'
import type { RulebookOf } from './rulebook.ts'
import { compileGateway } from './rulebooks.ts'

/** A simulated request or response: its texts, its end user, and categories to treat as found. */
export type Scenario = {
  readonly texts: readonly string[]
  /** Neighbouring texts joined to one. */
  readonly joinedFragments: readonly string[]
  readonly direction: TextDirection
  readonly categories: readonly string[]
  readonly user: string | undefined
  readonly target: string | undefined
}

export type SimulationInput = {
  readonly organizationId: string
  readonly credentialId: string
  /** The configuration to simulate; by default the one in force. */
  readonly config: GatewayConfiguration | undefined
  readonly scenario: Scenario
}

export type Simulation = Evaluation & { readonly plan: Plan; readonly direction: TextDirection }

/** Shows what a gateway configuration would do, with the same `Evaluate` function that requests and responses use. */
export type Simulate = (input: SimulationInput) => Promise<Simulation>

export type SimulateParts = {
  readonly evaluate: Evaluate
  readonly rulebookOf: RulebookOf
  readonly patterns: PatternEngine
}

/** Sends nothing to a model, counts nothing, and ignores the organization's policies. */
export function createSimulate({ evaluate, rulebookOf, patterns }: SimulateParts): Simulate {
  return async ({ organizationId, credentialId, config, scenario }) => {
    const { texts, joinedFragments, direction, categories, user, target } = scenario
    const gateway = config
      ? compileGateway({ ...unsaved, config }, patterns)
      : (await rulebookOf(organizationId)).gateway
    const plan = planFor({ gateway, policies: [] }, { ...emptyContext, user, target, credentialId })
    const evaluation = await evaluate(plan, { texts, joinedFragments, direction, givenCategories: categories })
    return { ...evaluation, plan, direction }
  }
}

const emptyContext = { model: '', project: '', metadata: {}, policyIds: [], flaggedCategories: [] }
