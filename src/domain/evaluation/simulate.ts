import { unsaved, type GatewayConfiguration } from '../gateway-config/configuration.ts'
import type { TextDirection } from '../moderation/classifier.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import type { Evaluation, Evaluate } from './findings/evaluate.ts'
import { planFor, type Plan } from './rules/plan.ts'
import type { RulebookOf } from './rules/rulebook.ts'
import { compileGateway } from './rules/rulebooks.ts'

/** What is imagined to be said, by whom, and what is taken as found in it. */
export type Scenario = {
  readonly texts: readonly string[]
  /** What several of them say together. */
  readonly seams: readonly string[]
  readonly direction: TextDirection
  readonly categories: readonly string[]
  readonly user: string | undefined
  readonly target: string | undefined
}

export type SimulationInput = {
  readonly organizationId: string
  readonly credentialId: string
  /** The configuration to try; the one in force where none is given. */
  readonly config: GatewayConfiguration | undefined
  readonly scenario: Scenario
}

export type Simulation = Evaluation & { readonly plan: Plan; readonly direction: TextDirection }

/** What a gateway configuration would do, judged by the very function that judges requests and answers. */
export type Simulate = (simulating: SimulationInput) => Promise<Simulation>

export type SimulateParts = {
  readonly examine: Evaluate
  readonly rulebookOf: RulebookOf
  readonly patterns: PatternEngine
}

/** Nothing is sent to a model, nothing is counted, and policies of the organization are left aside. */
export function createSimulate({ examine, rulebookOf, patterns }: SimulateParts): Simulate {
  return async ({ organizationId, credentialId, config, scenario }) => {
    const { texts, seams, direction, categories, user, target } = scenario
    const gateway = config
      ? compileGateway({ ...unsaved, config }, patterns)
      : (await rulebookOf(organizationId)).gateway
    const plan = planFor({ gateway, policies: [] }, { ...nowhere, user, target, credentialId })
    const examination = await examine(plan, { texts, seams, direction, givenCategories: categories })
    return { ...examination, plan, direction }
  }
}

const nowhere = { model: '', project: '', metadata: {}, policyIds: [], flaggedCategories: [] }
