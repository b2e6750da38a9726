import { ApiError } from '../../app/client/api-client.ts'
import { gatewayCaseProblems } from '../../app/client/file-cases.ts'
import { problemAt } from '../../app/client/file-problems.ts'
import { leafDiffLines } from '../leaf-diff.ts'
import { gatewayWarnings, planGateway, saveGateway } from '../gateway.ts'
import { planAlertChannels } from './alert-channels.ts'
import { planAlertRules } from './alert-rules.ts'
import { planBudgets } from './budgets.ts'
import { planGatewayCases } from './cases.ts'
import { planAdminKeys, planApiKeys } from './keys.ts'
import { planJudges } from './judges.ts'
import { planModels, planUpstreams } from './models.ts'
import { planPolicies } from './policies.ts'
import { planPublishGate } from './publish-gate.ts'
import { planOrganization, planProjects } from './projects.ts'
import { planSinks } from './sinks.ts'
import { readState } from './state.ts'
import { planDeletions } from './prune.ts'
import { actionOf, createProblems, ownerDifference, type Planning, type Step } from './step.ts'

export type PlanInput = Pick<
  Planning,
  'client' | 'resources' | 'env' | 'updatesSecrets' | 'isTakeOver' | 'gateOverride'
> & {
  readonly nowMs: number
  /** Whether resources of the owner that no file describes are deleted. */
  readonly prunes: boolean
}

/**
 * Compares the files with the organization. Every mistake in the files is reported here, before any change. A step only
 * refers to resources of steps before it.
 */
export async function planResources({ nowMs, prunes, ...input }: PlanInput): Promise<readonly Step[]> {
  const { report, throwIfAny } = createProblems()
  const planning: Planning = { ...input, report, state: await readState(input.client, nowMs) }
  requireReadModels(planning)
  const projects = planProjects(planning)
  const channels = planAlertChannels(planning)
  const steps = [
    ...planOrganization(planning),
    ...projects.steps,
    ...planApiKeys(planning, projects),
    ...planAdminKeys(planning),
    ...planSinks(planning),
    ...planUpstreams(planning),
    ...planModels(planning),
    ...planJudges(planning),
    ...planBudgets(planning, projects),
    ...channels.steps,
    ...planAlertRules(planning, { projects, channels }),
    ...planPublishGate(planning),
    ...(await planGatewayStep(planning)),
    ...(await planPolicies(planning, projects)),
  ]
  throwIfAny()
  return prunes ? [...steps, ...planDeletions(planning, steps)] : steps
}

/** Without the current ones, each entry of the files would be planned as a new one. */
function requireReadModels({ resources, state, report }: Planning): void {
  const [entry] = [...resources.upstreams, ...resources.models]
  if (entry && state.modelsProblem !== undefined) report(entry, { path: [], message: state.modelsProblem })
}

const disabledMessage =
  'a denial spike has disabled the gateway configuration, and setting its owner would enable it again: save it in the console first, or leave gateway out of the files'

/** A configuration that a denial spike has disabled stays disabled until it is changed or saved by a person. */
async function planGatewayStep(planning: Planning): Promise<Step[]> {
  const { client, report } = planning
  const { gateway } = planning.resources
  if (!gateway) return []
  const { cases: ownCases = [], ...config } = gateway.value
  for (const problem of gatewayCaseProblems(ownCases)) report(gateway, problem)
  try {
    const cases = await planGatewayCases(client, gateway.value)
    const { current, differences: others } = await planGateway(client, config)
    const owner = ownerDifference(planning, gateway, { current, others: [...others, ...cases.differences] })
    const isDisabled = current.rolled_back
    if (isDisabled && others.length === 0 && owner.length > 0) report(gateway, { path: [], message: disabledMessage })
    const enabled = isDisabled && others.length > 0 ? [{ field: 'rolled_back', before: true, after: false }] : []
    const ofConfig = [...others, ...enabled, ...owner]
    const differences = [...ofConfig, ...cases.differences]
    const run: Step['run'] = async (applying) => {
      // Saving an equal configuration would enable one that a denial spike has disabled.
      const saved =
        ofConfig.length === 0
          ? current
          : await saveGateway(applying, { current, config, override: planning.gateOverride })
      await cases.apply(applying)
      return { id: '', warnings: gatewayWarnings(saved) }
    }
    const action = actionOf(current, differences)
    const lines = [...leafDiffLines(ofConfig), ...cases.lines]
    return [{ kind: 'gateway configuration', name: '', action, differences, lines, run }]
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    report(gateway, problemAt(error.param ?? '', error.message))
    return []
  }
}

type ChoiceValues = { readonly [Option in 'update-secrets' | 'take-over' | 'prune']?: boolean | undefined } & {
  readonly override?: string | undefined
}

type Choices = Pick<PlanInput, 'updatesSecrets' | 'isTakeOver' | 'prunes' | 'gateOverride'>

/** The choices of plan and apply. */
export const choicesOf = (values: ChoiceValues): Choices => ({
  updatesSecrets: values['update-secrets'] ?? false,
  isTakeOver: values['take-over'] ?? false,
  prunes: values.prune ?? false,
  gateOverride: values.override,
})
